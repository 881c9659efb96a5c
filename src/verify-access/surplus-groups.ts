// Finds the managed groups that an account is in against the source, and from which the next reconcile would remove it. Reads Redis
// only.
import type { Link } from '../directory/outbox/link.ts';
import type { FoundResource } from '../ops/find.ts';
import { managedEntries } from '../reconcile/compare/membership-entries.ts';
import { isProtected, protectionAt } from '../reconcile/compare/protected.ts';
import { isChange } from '../reconcile/entry.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Reading } from './account.ts';
import type { DesiredAccess, LeavingGroup } from './desired-access.ts';
import { isProtectedName } from '../sync/user/protected-user.ts';

/**
 * Returns the groups that the source does not want, such as those added by hand under `groups.members: authoritative`, with the
 * reason that `explain` gives. No removal is pending yet, so `wanted.leaving` does not have these groups. Empty for an account that
 * must be closed, because its groups give no access, and for a protected one, because no run removes its memberships.
 * @param reading the account that `link` leads to
 */
export async function surplusGroups(
  scope: ReconcileScope,
  { ref }: FoundResource,
  link: Link,
  wanted: DesiredAccess,
  reading: Reading,
): Promise<LeavingGroup[]> {
  const { drifts, target } = scope;
  if (wanted.kind === 'closed') return [];
  const userName = String(wanted.desired.core.userName);
  // `isProtected` covers the owner of the API key too, and `isProtectedName` a name that was listed after the last sync.
  if (isProtected(link, protectionAt(target), userName) || isProtectedName(scope, userName)) return [];
  const known = new Set(
    [...wanted.groups, ...wanted.leaving, ...wanted.leftOut].map(({ platformId }) => platformId),
  );
  const others = reading.groups.filter(({ platformId }) => !known.has(platformId));
  const holders = await drifts.linkedTo(
    'Group',
    others.map(({ platformId }) => platformId),
  );
  const entries = await managedEntries({ scope }, holders, 'surplus', { ref, link, unconfirmed: new Set() });
  return entries.filter(isChange).map(({ name, platformId, reason }) => ({
    name,
    platformId: platformId ?? undefined,
    state: 'surplus',
    reason,
  }));
}
