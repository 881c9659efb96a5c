// Collects the changes of a plan for which syncs or the run will ask the guard, because they take something away: entries of the
// plan, and changes that have no entry but follow from one, such as the removal of each member of a group that is deleted.
// to-be-held.ts then finds which of all these changes the guard will hold.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { isUnmanaged } from '../../directory/member-names.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { leaving } from '../../sync/group/members.ts';
import { isChange, needsNoPermission, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { firstDestruction } from './destructions.ts';
import { observedLinks } from './observed-links.ts';

/** A change that takes something away, as plan entry and in the form of the guard. */
export interface PlanRemoval {
  /** The entry of the plan; for a removal that the plan does not list, a copy of an entry of the same group with that member. */
  entry: PlanEntry;
  item: Destruction;
}

interface CollectedRemovals {
  removals: PlanRemoval[];
  /** Links of the users whose membership or value is removed. */
  links: ReadonlyMap<Ref, Link>;
  /** Members whose account is to be closed too, so that the guard is not asked for their removal (`leavingWithAccount`). */
  withAccount: ReadonlyMap<Ref, 'follows' | 'waits'>;
  /** Returns whether a sync asks the guard for the change, and not the run. */
  isOfSync: (removal: PlanRemoval) => boolean;
}

/**
 * Returns the changes that take something away; undefined if the entries have none. To the changes of the entries three sorts are
 * added: removals of the members of a deleted group, pending removals that somebody made at the platform, and deactivations for
 * which removals wait.
 * @param inSync as in `withToBeHeld`
 */
export async function collectRemovals(
  scope: Pick<ReconcileScope, 'outbox' | 'drifts'>,
  entries: readonly PlanEntry[],
  inSync: boolean,
): Promise<CollectedRemovals | undefined> {
  const deletions = await groupDeletions(scope, entries);
  const listed = entries.flatMap((entry): PlanRemoval[] => {
    const item = needsNoPermission(entry) ? undefined : firstDestruction(entry);
    const items = item && (deletions.get(item.ref) ?? [item]);
    return (items ?? []).map((each) => ({ entry, item: each }));
  });
  if (listed.length === 0) return undefined;
  // The sync of a deleted group, not the run, asks the guard for the members, as for pushed changes.
  const isOfSync = ({ entry, item: { kind, ref } }: PlanRemoval): boolean =>
    inSync || isPushed(entry) || (kind === 'removeMembers' && deletions.has(ref));
  const synced = listed.filter((removal) => isOfSync(removal) && !deletions.has(removal.item.ref));
  const found = [...listed, ...(await unlistedRemovals(scope.outbox, synced))];
  const accounts = [...new Set(found.flatMap(({ item }) => accountOfRemoval(item) ?? []))];
  const links = await observedLinks(scope.drifts, accounts);
  const withAccount = await leavingWithAccount(scope.outbox.guardStore, found, links);
  return { removals: [...found, ...unlistedClosings(found, withAccount)], links, withAccount, isOfSync };
}

/**
 * Returns, by group that is deleted at the source, the changes for which the sync of the group asks the guard together: the
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
 * Returns the pending removals of the groups that are not entries of the plan and are not held yet. Somebody has made these
 * removals at the platform; a sync of the group does not read its members, so the sync asks the guard for them too.
 * @param synced changes that the sync of their resource asks for
 */
async function unlistedRemovals(
  { guardStore, pendingMembers }: Pick<ReconcileScope['outbox'], 'guardStore' | 'pendingMembers'>,
  synced: readonly PlanRemoval[],
): Promise<PlanRemoval[]> {
  const ofGroup = new Map<Ref, PlanRemoval[]>();
  for (const removal of synced)
    if (removal.item.kind === 'removeMembers')
      ofGroup.set(removal.item.ref, [...(ofGroup.get(removal.item.ref) ?? []), removal]);
  const found: PlanRemoval[] = [];
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
  // The guard counts a held change already, and no sync writes a rejected one.
  const verdicts = await guardStore.verdictsOn(found.map(({ item }) => item));
  return found.filter((_, index) => verdicts[index] === undefined);
}

/**
 * Returns the members who leave a group while their account is to be closed too. The guard is asked for the deactivation, and not
 * for the removal, which waits: the deactivation is held (`follows`), or no sync has asked for it yet (`waits`). A deactivation
 * that the platform ignored is left out: the sync of the group does not wait for it (sync/group/remove-members.ts).
 */
async function leavingWithAccount(
  guardStore: ReconcileScope['outbox']['guardStore'],
  removals: readonly PlanRemoval[],
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
  removals: readonly PlanRemoval[],
  withAccount: ReadonlyMap<Ref, 'follows' | 'waits'>,
): PlanRemoval[] {
  const known = new Set(removals.flatMap(({ item }) => (item.kind === 'deactivate' ? [item.ref] : [])));
  const closings = new Map<Ref, PlanRemoval>();
  for (const { entry } of removals) {
    const ref = entry.member?.ref;
    if (ref && withAccount.get(ref) === 'waits' && !known.has(ref))
      closings.set(ref, { entry: { ...entry }, item: { kind: 'deactivate', ref } });
  }
  return [...closings.values()];
}

/** Returns whether a push caused the change. */
export const isPushed = ({ attribution }: PlanEntry): boolean => attribution.cause === 'source changed';

/** Returns the user whose membership or value is removed; undefined for an unmanaged member and for another change. */
export function accountOfRemoval({ kind, ref, subject }: Destruction): Ref | undefined {
  if (kind === 'removeMembers') return subject && !isUnmanaged(subject) ? refOf('User', subject) : undefined;
  return kind === 'clearAttributes' ? ref : undefined;
}
