// Compares one user or group with the platform; writes nothing.
import type { Link } from '../directory/outbox/links.ts';
import type { Ref } from '../directory/records.ts';
import { compareMemberships } from './compare-memberships.ts';
import type { DoneChanges } from './done-changes.ts';
import { NEWLY_LINKED, type PlanEntry } from './entry.ts';
import { withFollowers } from './followers.ts';
import { createNarrowScan } from './narrow-scan.ts';
import type { ReconcileScope } from './scope.ts';
import { verifyGroups } from './verify-groups.ts';
import { verifyUsers } from './verify-users.ts';
import type { GroupOfAccount, VerifiedResource } from './verified.ts';

export interface ComparedOne {
  entries: PlanEntry[];
  /** Held or rejected changes that the platform has already. */
  done: DoneChanges | undefined;
}

/**
 * Compares one resource. The entries include those that its sync causes in other resources.
 * @param members whether the members of a group are compared too
 * @returns the differences; null when the platform could not be read, or the resource changed at each read
 */
export async function compareOne(
  scope: ReconcileScope,
  ref: Ref,
  { signal, members = true }: { signal: AbortSignal; members?: boolean },
): Promise<ComparedOne | null> {
  const scan = createNarrowScan(scope, signal);
  if (ref.startsWith('Group:')) {
    const verified = await verifyGroups(scan, [ref], { withMembers: () => members });
    const [group] = verified;
    return group ? { entries: await withFollowers(scan, group.entries, verified), done: group.done } : null;
  }
  // Read before the account, so that a write in between is not taken for drift.
  const { pendingMemberships } = await scope.outbox.resourceStatus(ref);
  const verified = await verifyUsers(scan, [ref], { withValues: () => true });
  const [user] = verified;
  if (!user) return null;
  const entries = await withFollowers(scan, user.entries, verified);
  const link = await scope.links.get(scope.target.name, ref);
  const { done } = user;
  if (!comparesMemberships(user, entries, link)) return { entries, done };
  const pending = new Set(pendingMemberships.keys());
  const memberships = await compareMemberships(scan, { ref, link, memberOf: user.memberOf, pending });
  return memberships && { entries: [...entries, ...memberships], done };
}

/**
 * Returns whether the groups of the account are compared, which needs an account. They are not compared for a user who is
 * newly linked or comes back into scope: the sync writes all memberships, and `withFollowers` lists them. They are not
 * compared for a departed user either, because the bridge no longer maintains the memberships.
 */
function comparesMemberships(
  user: VerifiedResource,
  entries: readonly PlanEntry[],
  link: Link,
): user is VerifiedResource & { memberOf: readonly GroupOfAccount[] } {
  const isNewlyLinked = entries.some(({ action }) => NEWLY_LINKED.has(action));
  return user.memberOf !== undefined && !isNewlyLinked && user.isReturning !== true && link.departed !== true;
}
