// Finds the changes of a plan that the guard is to hold, because their kind has reached its limit. The plan only says so: the
// guard decides when a sync or a run asks it.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { isUnmanaged } from '../../directory/member-names.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { allowanceOf, DESTRUCTIVE_KINDS, populationOf, type GuardSettings } from '../../guard/judge.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { isProtectedName } from '../../sync/group/leavers.ts';
import { leaving } from '../../sync/group/members.ts';
import type { Target } from '../../sync/target.ts';
import { isChange, needsNoPermission, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { firstDestruction, isValue } from './unwritten.ts';
import { observedLinks } from './waiting-for-decision.ts';

const TO_BE_HELD = 'to be held by the guard until an operator decides or the approval expires';

/** Returns whether the guard is to hold the change, or another change of the same person that it waits for. */
export const isToBeHeld = (entry: PlanEntry): boolean => isChange(entry) && entry.reason.endsWith(TO_BE_HELD);

/** A change that takes something away, as plan entry and in the form of the guard. */
interface Removal {
  /** The entry of the plan; for a removal that the plan does not list, a copy of an entry of the same group with that member. */
  entry: PlanEntry;
  item: Destruction;
}

/**
 * Returns the entries; the reason of each entry that the guard is to hold says so. If only some of the changes that syncs ask for
 * fit into the limit, none of these says so, because the order of the syncs decides which are held. The steps:
 * 1. `listed`, `found` and `removals` collect the changes that take something away, also those that follow from the entries.
 * 2. `asked` are those for which the guard is asked. Of these, `decidedAlone` leaves out the removals of people whose account is
 *    to be closed.
 * 3. `held` are those of `decidedAlone` beyond the limits, and the removals of people whose deactivation is among them.
 * 4. `behind` are the changes of the same people that their syncs do not write meanwhile.
 * @param options.inSync the syncs of the resources ask for all changes, each for those of its resource; default: the syncs ask for
 *   the pushed changes, and a run for all others together
 */
export async function withToBeHeld(
  scope: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts'>,
  entries: PlanEntry[],
  { inSync = false }: { inSync?: boolean } = {},
): Promise<PlanEntry[]> {
  const { target, drifts } = scope;
  const { guardStore } = scope.outbox;
  const deletions = await groupDeletions(scope, entries);
  const listed = entries.flatMap((entry): Removal[] => {
    const item = needsNoPermission(entry) ? undefined : firstDestruction(entry);
    const items = item && (deletions.get(item.ref) ?? [item]);
    return (items ?? []).map((each) => ({ entry, item: each }));
  });
  if (listed.length === 0) return entries;
  // The sync of a deleted group, not the run, asks the guard for the members, as for pushed changes.
  const isOfSync = ({ entry, item: { kind, ref } }: Removal): boolean =>
    inSync || isPushed(entry) || (kind === 'removeMembers' && deletions.has(ref));
  const synced = listed.filter((removal) => isOfSync(removal) && !deletions.has(removal.item.ref));
  const found = [...listed, ...(await unlistedRemovals(scope.outbox, synced))];
  const accounts = [...new Set(found.flatMap(({ item }) => accountOfRemoval(item) ?? []))];
  const links = await observedLinks(drifts, accounts);
  const withAccount = await leavingWithAccount(guardStore, found, links);
  const removals = [...found, ...unlistedClosings(found, withAccount)];
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
  const leavers = new Set(asked.flatMap(({ item }) => (item.kind === 'deactivate' ? [item.ref] : [])));
  // The removal of a person whose account is to be closed is decided with the account.
  const isWithAccount = ({ entry: { member }, item }: Removal): boolean =>
    item.kind === 'removeMembers' &&
    !!member?.ref &&
    (leavers.has(member.ref) || withAccount.has(member.ref));
  const decidedAlone = asked.filter((removal) => !isWithAccount(removal));
  const held = beyondLimits(decidedAlone, { guard, population, kinds, isOfSync });
  const closings = new Set(
    asked.flatMap(({ entry, item }) => (item.kind === 'deactivate' && held.has(entry) ? [item.ref] : [])),
  );
  for (const removal of asked) {
    const { entry } = removal;
    if (isWithAccount(removal) && entry.member?.ref && closings.has(entry.member.ref)) held.add(entry);
  }
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

/**
 * Returns the entries of the changes that exceed the limit of their kind.
 * @param asked changes for which the guard is asked
 * @param options.isOfSync returns whether a sync asks for the change, and not the run
 */
function beyondLimits(
  asked: readonly Removal[],
  {
    guard,
    population,
    kinds,
    isOfSync,
  }: Awaited<ReturnType<ReconcileScope['outbox']['guardStore']['counts']>> & {
    guard: GuardSettings;
    isOfSync: (removal: Removal) => boolean;
  },
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

/** Returns whether a push caused the change. */
const isPushed = ({ attribution }: PlanEntry): boolean => attribution.cause === 'source changed';

/** Returns the user whose membership or value is removed; undefined for an unmanaged member and for another change. */
function accountOfRemoval({ kind, ref, subject }: Destruction): Ref | undefined {
  if (kind === 'removeMembers') return subject && !isUnmanaged(subject) ? refOf('User', subject) : undefined;
  return kind === 'clearAttributes' ? ref : undefined;
}

/** Returns whether the membership or value may give access that the removal takes away. A protected member is not removed. */
function givesAccess(target: Target, { kind }: Destruction, link: Link): boolean {
  if (kind === 'removeMembers' && (link.id === undefined || isProtectedName({ target }, nameOf(link))))
    return false;
  return mayBeActive(link);
}

const nameOf = ({ core }: Link): string => String(core?.userName ?? '');

/**
 * Returns, by group that is deleted at the source, the changes for which the sync of the group asks the guard as a whole: the
 * deletion and the removal of each member (delete-or-empty.ts). An adopted group stays, so it is left out.
 * @param entries of a plan, or of one person, which have the removal of that person alone
 */
async function groupDeletions(
  { outbox, drifts }: Pick<ReconcileScope, 'outbox' | 'drifts'>,
  entries: readonly PlanEntry[],
): Promise<Map<Ref, Destruction[]>> {
  const isAction = ({ action, kind }: PlanEntry): boolean =>
    kind === 'Group' && (action === 'delete' || action === 'removeMember');
  const groups = entries.flatMap((entry) =>
    entry.ref && isAction(entry) && isChange(entry) ? [entry.ref] : [],
  );
  const links = await observedLinks(drifts, [...new Set(groups)]);
  const deletions = new Map<Ref, Destruction[]>();
  for (const [ref, { id, origin }] of links) {
    const group = parseRef(ref).id;
    if (id === undefined || origin === 'adopted' || !(await drifts.deletedAtSource(group))) continue;
    const members = leaving(await outbox.pendingMembers(group));
    deletions.set(ref, [
      { kind: 'delete', ref },
      ...members.map((subject): Destruction => ({ kind: 'removeMembers', ref, subject })),
    ]);
  }
  return deletions;
}

/**
 * Returns the pending removals of the groups that are not entries of the plan and are not held yet. Somebody has made these removals
 * at the platform; a sync of the group does not read its members, so the sync asks the guard for them too.
 * @param synced changes that the sync of their resource asks for
 */
async function unlistedRemovals(
  { guardStore, pendingMembers }: Pick<ReconcileScope['outbox'], 'guardStore' | 'pendingMembers'>,
  synced: readonly Removal[],
): Promise<Removal[]> {
  const ofGroup = new Map<Ref, Removal[]>();
  for (const removal of synced)
    if (removal.item.kind === 'removeMembers')
      ofGroup.set(removal.item.ref, [...(ofGroup.get(removal.item.ref) ?? []), removal]);
  const found: Removal[] = [];
  for (const [ref, [first, ...others]] of ofGroup) {
    if (!first) continue;
    const known = new Set([first, ...others].map(({ item }) => item.subject));
    for (const subject of withSign(await pendingMembers(parseRef(ref).id), MEMBERSHIP_SIGN.toRemove)) {
      if (known.has(subject)) continue;
      const user = isUnmanaged(subject) ? null : refOf('User', subject);
      // Only the ref of the member is used here.
      const member = { ref: user, platformId: null, name: '' };
      found.push({ entry: { ...first.entry, member }, item: { kind: 'removeMembers', ref, subject } });
    }
  }
  // The guard counts its held changes already.
  const verdicts = await guardStore.verdictsOn(found.map(({ item }) => item));
  return found.filter((_, index) => verdicts[index] === undefined);
}

/**
 * Returns the members who leave a group with their account, so that the guard is not asked for the removal, with their state: the
 * deactivation is held (`follows`), or no sync has asked for it yet (`waits`). A deactivation that the platform ignored is left
 * out: the sync of the group does not wait for it (sync/group/members.ts).
 */
async function leavingWithAccount(
  guardStore: ReconcileScope['outbox']['guardStore'],
  removals: readonly Removal[],
  links: ReadonlyMap<Ref, Link>,
): Promise<Map<Ref, 'follows' | 'waits'>> {
  const members = [
    ...new Set(
      removals.flatMap(({ item }) => (item.kind === 'removeMembers' ? (accountOfRemoval(item) ?? []) : [])),
    ),
  ];
  const decisions = await guardStore.decisionsOfMembers(members.map((ref) => parseRef(ref).id));
  const withAccount = new Map<Ref, 'follows' | 'waits'>();
  for (const [index, ref] of members.entries()) {
    const decision = decisions[index];
    const isIgnored = links.get(ref)?.condition?.isIgnored === true;
    if (decision === 'follows' || (decision === 'waits' && !isIgnored)) withAccount.set(ref, decision);
  }
  return withAccount;
}

/** Returns the deactivations for which removals wait and which are no entries, as in the plan of one group. */
function unlistedClosings(
  removals: readonly Removal[],
  withAccount: ReadonlyMap<Ref, 'follows' | 'waits'>,
): Removal[] {
  const known = new Set(removals.flatMap(({ item }) => (item.kind === 'deactivate' ? [item.ref] : [])));
  const closings = new Map<Ref, Removal>();
  for (const { entry } of removals) {
    const ref = entry.member?.ref;
    if (ref && withAccount.get(ref) === 'waits' && !known.has(ref))
      closings.set(ref, { entry: { ...entry }, item: { kind: 'deactivate', ref } });
  }
  return [...closings.values()];
}

/** Returns the number of removals of each resource. */
function countByRef(removals: readonly Removal[]): Map<Ref, number> {
  const counts = new Map<Ref, number>();
  for (const { item } of removals) counts.set(item.ref, (counts.get(item.ref) ?? 0) + 1);
  return counts;
}
