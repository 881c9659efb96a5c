// Finds the changes of a plan that the guard is to hold, because their kind has reached its limit. The plan only notes these
// changes: the guard decides later, when a sync or a run asks it.
import type { Destruction } from '../../directory/guard/held-changes.ts';
import type { Link } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import { allowanceOf, DESTRUCTIVE_KINDS, populationOf, type GuardSettings } from '../../guard/judge.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import type { Target } from '../../sync/target.ts';
import { isChange, type PlanEntry } from '../entry.ts';
import { accountOfRemoval, collectRemovals, isPushed, type PlanRemoval } from './removals-of-plan.ts';
import type { ReconcileScope } from '../scope.ts';
import { isValue } from './unwritten.ts';
import { isProtectedName } from '../../sync/user/protected-user.ts';

const TO_BE_HELD = 'to be held by the guard until an operator decides or the approval expires';

/** Returns whether the guard is to hold the change, or another change of the same person that it waits for. */
export const isToBeHeld = (entry: PlanEntry): boolean => isChange(entry) && entry.reason.endsWith(TO_BE_HELD);

/**
 * Returns the entries, with a note (TO_BE_HELD) in the reason of each entry that the guard is to hold. If only some of the changes
 * that syncs ask for fit into the limit, none of them gets the note, because the order of the syncs decides which are held. The
 * steps:
 * 1. `collectRemovals` returns the changes that take something away, also those that follow from the entries.
 * 2. `asked` are those for which the guard is asked.
 * 3. `decideHeld` returns those beyond the limits, and the removals of people whose deactivation is among them.
 * 4. `behind` are the changes of the same people that their syncs do not write meanwhile.
 * @param options.inSync the syncs of the resources ask for all changes, each for those of its resource; default: the syncs ask for
 *   the pushed changes, and a run for all others together
 */
export async function withToBeHeld(
  scope: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts'>,
  entries: PlanEntry[],
  { inSync = false }: { inSync?: boolean } = {},
): Promise<PlanEntry[]> {
  const { target } = scope;
  const { guardStore } = scope.outbox;
  const collected = await collectRemovals(scope, entries, inSync);
  if (!collected) return entries;
  const { removals, links, withAccount, isOfSync } = collected;
  const { guard } = target.policy;
  const [permitted, { population, kinds }] = await Promise.all([
    guardStore.arePermitted(removals.map(({ item }) => item)),
    guardStore.counts(guard.windowMs),
  ]);
  // Left out: permitted changes, and memberships and values of a closed account, which give no access and need no permission.
  const asked = removals.filter(({ item }, index) => {
    const account = accountOfRemoval(item);
    const link = account && links.get(account);
    return !permitted[index] && (link === undefined || givesAccess(target, item, link));
  });
  const { held, closings } = decideHeld(asked, withAccount, { guard, population, kinds, isOfSync });
  // Users whose removal from a group is to be held, also the members of a group whose deletion is to be held.
  const removedUsers = new Set(
    asked.flatMap(({ entry, item }) =>
      item.kind === 'removeMembers' && held.has(entry) ? (accountOfRemoval(item) ?? []) : [],
    ),
  );
  const behind = behindThese(entries, { held, closings, removedUsers });
  return entries.map((entry) => {
    if (held.has(entry)) return { ...entry, reason: `${entry.reason}; ${TO_BE_HELD}` };
    if (!behind.has(entry)) return entry;
    return { ...entry, reason: `${entry.reason}; waits for a change of the same person, ${TO_BE_HELD}` };
  });
}

/** Returns whether the membership or value may give access that the removal takes away. A protected member is not removed. */
function givesAccess(target: Target, { kind }: Destruction, link: Link): boolean {
  if (kind === 'removeMembers' && (link.id === undefined || isProtectedName({ target }, nameOf(link))))
    return false;
  return mayBeActive(link);
}

const nameOf = ({ core }: Link): string => String(core?.userName ?? '');

/** Counts and limits of the guard. */
type Limits = Awaited<ReturnType<ReconcileScope['outbox']['guardStore']['counts']>> & {
  guard: GuardSettings;
  /** As in CollectedRemovals. */
  isOfSync: (removal: PlanRemoval) => boolean;
};

/**
 * Returns the entries that the guard is to hold, and the users whose deactivation is among them.
 * @param asked changes for which the guard is asked
 * @param withAccount as in CollectedRemovals
 */
function decideHeld(
  asked: readonly PlanRemoval[],
  withAccount: ReadonlyMap<Ref, unknown>,
  limits: Limits,
): { held: ReadonlySet<PlanEntry>; closings: ReadonlySet<Ref> } {
  const leavers = new Set(asked.flatMap(({ item }) => (item.kind === 'deactivate' ? [item.ref] : [])));
  // The removal of a person whose account is to be closed is decided with the account.
  const isWithAccount = ({ entry: { member }, item }: PlanRemoval): boolean =>
    item.kind === 'removeMembers' &&
    !!member?.ref &&
    (leavers.has(member.ref) || withAccount.has(member.ref));
  const decidedAlone = asked.filter((removal) => !isWithAccount(removal));
  const held = beyondLimits(decidedAlone, limits);
  const closings = new Set(
    asked.flatMap(({ entry, item }) => (item.kind === 'deactivate' && held.has(entry) ? [item.ref] : [])),
  );
  for (const removal of asked) {
    const { entry } = removal;
    if (isWithAccount(removal) && entry.member?.ref && closings.has(entry.member.ref)) held.add(entry);
  }
  return { held, closings };
}

/**
 * Returns the entries of the changes that exceed the limit of their kind.
 * @param asked changes for which the guard is asked
 */
function beyondLimits(
  asked: readonly PlanRemoval[],
  { guard, population, kinds, isOfSync }: Limits,
): Set<PlanEntry> {
  const held = new Set<PlanEntry>();
  for (const kind of DESTRUCTIVE_KINDS) {
    const ofKind = asked.filter(({ item }) => item.kind === kind);
    if (ofKind.length === 0) continue;
    const ofSyncs = countByRef(ofKind.filter(isOfSync));
    const ofRun = ofKind.filter((removal) => !isOfSync(removal)).length;
    const isClosing = kind === 'deactivate';
    // The guard counts a pushed deactivation from the push on; the plan may know of more.
    const pushed = ofKind.filter(({ entry }) => isPushed(entry)).length;
    const waiting = isClosing ? Math.max(kinds[kind].waiting, pushed) : 0;
    for (const removal of ofKind) {
      const { entry, item } = removal;
      // Number of changes of the kind, this one included, that are asked for together: all of the run, or those of the resource's
      // sync. 0 for a pushed deactivation, because `waiting` counts it.
      let together = ofRun;
      if (isOfSync(removal)) together = isClosing && isPushed(entry) ? 0 : (ofSyncs.get(item.ref) ?? 1);
      const size = populationOf(kind, population, kinds[kind], together);
      if (kinds[kind].used + kinds[kind].held + waiting + together > allowanceOf(guard[kind], size))
        held.add(entry);
    }
  }
  return held;
}

/** Returns the number of removals of each resource. */
function countByRef(removals: readonly PlanRemoval[]): Map<Ref, number> {
  const counts = new Map<Ref, number>();
  for (const { item } of removals) counts.set(item.ref, (counts.get(item.ref) ?? 0) + 1);
  return counts;
}

/**
 * Returns the changes that the sync of a person does not write while the guard holds another change of the person (sync-user.ts).
 * Behind a deactivation these are additions to groups, and attribute values. Behind a removal from a group they are additions to
 * groups, and attribute values with the core values that are written after them.
 * @param closings users whose deactivation is to be held
 * @param removedUsers users whose removal from a group is to be held
 */
function behindThese(
  entries: readonly PlanEntry[],
  {
    held,
    closings,
    removedUsers,
  }: { held: ReadonlySet<PlanEntry>; closings: ReadonlySet<Ref>; removedUsers: ReadonlySet<Ref> },
): Set<PlanEntry> {
  const withValues = new Set(
    entries.flatMap((entry) => (isValue(entry) && removedUsers.has(entry.ref) ? [entry.ref] : [])),
  );
  const isBehind = (entry: PlanEntry): boolean => {
    const { action, kind, ref, member } = entry;
    if (action === 'addMember')
      return !!member?.ref && (closings.has(member.ref) || removedUsers.has(member.ref));
    if (kind !== 'User' || ref === null) return false;
    return isValue(entry)
      ? closings.has(ref) || removedUsers.has(ref)
      : action === 'update' && withValues.has(ref) && !closings.has(ref);
  };
  return new Set(entries.filter((entry) => isChange(entry) && !held.has(entry) && isBehind(entry)));
}
