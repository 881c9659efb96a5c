// Leaves out of a plan, or only reports, the changes that a sync will not make because of the state of the user: the account is gone,
// the sync refuses to adopt it, or the user is out of scope. Pure.
import { isChange, NEWLY_LINKED, type PlanEntry } from '../entry.ts';
import type { VerifiedResource } from '../compare/verified.ts';

/** Actions that link a resource to an account or group that exists at the platform. */
const TAKES_OVER: ReadonlySet<PlanEntry['action']> = new Set(['adopt', 'relink']);

/** Returns a membership as an entry that is only reported. */
const waitingForUser = (entry: PlanEntry): PlanEntry => ({
  ...entry,
  effect: 'report',
  reason: `${entry.reason}; waits for the user, who needs a person`,
});

/**
 * Returns the entries without removals of members whose account the platform does not have any more. If the user has a conflict, so
 * that no run creates the account anew, the additions of the user are only reported.
 */
export function withGoneMembers(entries: PlanEntry[], verified: readonly VerifiedResource[]): PlanEntry[] {
  const gone = new Set(
    verified
      .filter(({ ref, version, account }) => ref.startsWith('User:') && version !== undefined && !account)
      .map(({ ref }) => ref),
  );
  const newlyLinked = new Set(
    entries.filter((entry) => NEWLY_LINKED.has(entry.action) && isChange(entry)).map(({ ref }) => ref),
  );
  return entries.flatMap((entry): PlanEntry[] => {
    const { action, member } = entry;
    if (!member?.ref || member.platformId === null || !gone.has(member.ref)) return [entry];
    if (action === 'removeMember') return [];
    const isWaiting = action === 'addMember' && isChange(entry) && !newlyLinked.has(member.ref);
    return [isWaiting ? waitingForUser(entry) : entry];
  });
}

/** Returns the entries without additions of users who are out of scope: their syncs drop what is pending. */
export function withoutAddedLeavers(
  entries: PlanEntry[],
  verified: readonly VerifiedResource[],
): PlanEntry[] {
  const outOfScope = new Set(verified.filter(({ isOut }) => isOut).map(({ ref }) => ref));
  return entries.filter(
    ({ action, member }) => action !== 'addMember' || !member?.ref || !outOfScope.has(member.ref),
  );
}

/**
 * Returns the entries with a conflict in place of each adoption that the sync will refuse. The values of the user are left out, and
 * the memberships are only reported.
 */
export function withoutRefusedAdoptions(
  entries: PlanEntry[],
  verified: readonly VerifiedResource[],
): PlanEntry[] {
  const reasons = new Map(
    verified.flatMap(({ ref, notAdopted, entries: own }) =>
      notAdopted !== undefined && own.some((entry) => isChange(entry) && TAKES_OVER.has(entry.action))
        ? [[ref, notAdopted] as const]
        : [],
    ),
  );
  if (reasons.size === 0) return entries;
  return entries.flatMap((entry): PlanEntry[] => {
    const { member } = entry;
    const ref = member ? member.ref : entry.ref;
    const reason = ref === null ? undefined : reasons.get(ref);
    if (reason === undefined || !isChange(entry)) return [entry];
    if (member) return [waitingForUser(entry)];
    if (!TAKES_OVER.has(entry.action)) return [];
    return [{ ...entry, action: 'conflict', effect: 'report', reason, attribution: { cause: 'none' } }];
  });
}
