// Compares one user or group with the platform; writes nothing.
import type { Ref } from '../directory/records.ts';
import { compareMemberships } from './compare-memberships.ts';
import type { PlanEntry } from './entry.ts';
import { NEWLY_LINKED, withFollowers } from './followers.ts';
import { createNarrowScan } from './narrow-scan.ts';
import type { ReconcileScope } from './scope.ts';
import { verifyGroups } from './verify-groups.ts';
import { verifyUsers } from './verify-users.ts';

/**
 * @param members whether the members of a group are compared too
 * @returns the differences; null when the platform could not be read
 */
export async function compareOne(
  scope: ReconcileScope,
  ref: Ref,
  { signal, members = true }: { signal: AbortSignal; members?: boolean },
): Promise<PlanEntry[] | null> {
  const scan = createNarrowScan(scope, signal);
  if (ref.startsWith('Group:')) {
    const verified = await verifyGroups(scan, [ref], { withMembers: () => members });
    const [group] = verified;
    return group ? withFollowers(scan, group.entries, verified) : null;
  }
  // Read before the account, so that a write in between is not taken for drift.
  const { pendingGroups } = await scope.outbox.resourceStatus(ref);
  const verified = await verifyUsers(scan, [ref], { withValues: () => true });
  const [user] = verified;
  if (!user) return null;
  const entries = await withFollowers(scan, user.entries, verified);
  const { memberOf, isReturning } = user;
  const link = await scope.links.get(scope.target.name, ref);
  // The memberships of an account that is linked anew, or comes back, follow from that; those of a leaver are not kept.
  const isAnew = isReturning === true || entries.some(({ action }) => NEWLY_LINKED.has(action));
  if (!memberOf || isAnew || link.departed === true) return entries;
  const pending = new Set(pendingGroups.keys());
  const memberships = await compareMemberships(scan, { ref, link, memberOf, pending });
  return memberships && [...entries, ...memberships];
}
