// Adds to the report of a sync (SyncEnd) which memberships of the person or group are not written, and why. `withWaiting`: nothing
// but memberships is left to write. `withStoppedRemovals`: a person's other changes wait for removals from groups.
// `withUnwrittenOthers`: groups of the person, or members of the group, are not as desired themselves.
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { parseLink } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import type { PlanEntry } from '../../reconcile/entry.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { waitingMemberships } from '../../reconcile/unwritten/waiting-for-decision.ts';
import { counted } from '../../support/counted.ts';
import { MOST_NAMED, someOf } from '../../support/sentence-parts.ts';
import { isNameConfirmed } from '../../sync/group/group-name.ts';
import { removal } from '../../sync/names/succession.ts';
import type { FoundResource } from '../find.ts';
import { withReason, type SyncEnd } from './sync-outcome.ts';

/** Adds to the report of a finished sync why memberships are not written. Nothing of the resource itself is left to write. */
export async function withWaiting(
  scope: ReconcileScope,
  end: SyncEnd,
  { ref, entries }: { ref: Ref; entries: readonly PlanEntry[] },
): Promise<SyncEnd> {
  if (ref.startsWith('Group:')) return withWaitingMembers(scope, end, { ref, entries });
  const held = await withHeldRemovals(scope, end, ref);
  return withUnwrittenMemberships(scope, held, await waitingGroups(scope, ref));
}

/**
 * Adds to the report of a group that members wait for a decision about their accounts, or for a group that was refused; else that
 * members are not written yet.
 */
async function withWaitingMembers(
  scope: ReconcileScope,
  end: SyncEnd,
  { ref, entries }: { ref: Ref; entries: readonly PlanEntry[] },
): Promise<SyncEnd> {
  const { pendingMemberships: pending } = await scope.outbox.resourceStatus(ref);
  const waiting = [...(await waitingMemberships(scope, entries))].filter(
    ([{ member }]) => member?.ref && pending.has(parseRef(member.ref).id),
  );
  if (waiting.length === 0) return withUnwrittenMemberships(scope, end, await waitingMembers(scope, ref));
  const names = waiting.flatMap(([{ member }]) => member?.name ?? []);
  const waits = new Set(waiting.map(([, wait]) => wait));
  const isRefused = waits.delete('refusedRemoval');
  const isHeld = [...waits].some((wait) => wait !== 'rejected');
  const causes = [
    ...(isHeld ? ['the guard holds, see scim-bridge approvals list'] : []),
    ...(isRefused
      ? ['wait for a group that needs a person, which scim-bridge explain of each of them names']
      : []),
    ...(waits.has('rejected') ? ['an operator rejected, see scim-bridge exceptions'] : []),
  ];
  const message = `${counted(names.length, 'membership')} not written, because of changes of the same people that ${causes.join(', or that ')}: ${someOf(names)}`;
  return withReason(end, isHeld ? 'held' : isRefused ? 'waiting' : 'equal', message);
}

/** Adds to the report of a person that the guard holds the removal from a group, or the deletion of a group with the person. */
async function withHeldRemovals(scope: ReconcileScope, end: SyncEnd, ref: Ref): Promise<SyncEnd> {
  const { outbox } = scope;
  const { pendingMemberships } = await outbox.resourceStatus(ref);
  const groups = [...pendingMemberships].flatMap(([id, sign]) =>
    sign === MEMBERSHIP_SIGN.toRemove ? [refOf('Group', id)] : [],
  );
  const [removals, deletions] = await Promise.all([
    outbox.guardStore.verdictsOn(groups.map((group) => removal(parseRef(group).id, parseRef(ref).id))),
    outbox.guardStore.verdictsOn(groups.map((group) => ({ kind: 'delete', ref: group }))),
  ]);
  const held = groups.filter((_, index) => removals[index] === 'held' || deletions[index] === 'held');
  if (held.length === 0) return end;
  const [named, open] = await Promise.all([firstNamesOf(scope, held), outbox.guardStore.open()]);
  const told = `the guard holds the removal from ${counted(held.length, 'group')}: ${named}`;
  return withReason(end, 'held', open ? `${told}: ${showText(scope, open.id)}` : told);
}

/** Adds to the report of a person the pending removals from groups that the guard holds, or whose group was refused. */
export async function withStoppedRemovals(scope: ReconcileScope, end: SyncEnd, ref: Ref): Promise<SyncEnd> {
  const held = await withHeldRemovals(scope, end, ref);
  if (!ref.startsWith('User:')) return held;
  const groups = await scope.outbox.pendingRemovals(parseRef(ref).id);
  return withUnwrittenMemberships(
    scope,
    held,
    groups.map((group) => refOf('Group', group)),
  );
}

/** Returns the groups that have to write a membership of the person. */
async function waitingGroups({ outbox }: ReconcileScope, ref: Ref): Promise<Ref[]> {
  const { pendingMemberships } = await outbox.resourceStatus(ref);
  return [...pendingMemberships].flatMap(([id, sign]) =>
    sign === MEMBERSHIP_SIGN.keptRemoval ? [] : [refOf('Group', id)],
  );
}

/** Returns the members whom the group lacks: those with a pending addition, and those whose account is gone. */
async function waitingMembers({ drifts, outbox }: ReconcileScope, ref: Ref): Promise<Ref[]> {
  const { id } = parseRef(ref);
  const signs = await outbox.pendingMembers(id);
  const members = await drifts.membersOf(id);
  return members.flatMap(({ user, link }) =>
    signs.get(user) === MEMBERSHIP_SIGN.toAdd || link.id === undefined ? [refOf('User', user)] : [],
  );
}

/**
 * Adds to the report of a person or group the memberships that are not written yet. If the last sync of the group or member
 * on the other side was refused, nothing writes them until a person acts. A member may also have to leave another group first.
 * @param others the groups of the person, or the members of the group
 */
async function withUnwrittenMemberships(
  scope: ReconcileScope,
  end: SyncEnd,
  others: Ref[],
): Promise<SyncEnd> {
  const observed = await scope.drifts.readLinks(others);
  const refused = observed.filter(({ text, marked }) => refusalOf(parseLink(text), marked));
  const isRefused = refused.length > 0;
  const found = (isRefused ? refused : await stillToSync(scope, observed)).map(({ ref }) => ref);
  const [first] = found;
  if (first === undefined) return end;
  const names = await firstNamesOf(scope, found);
  const isOne = found.length === 1;
  const told = `${counted(found.length, 'membership')} ${isOne ? 'is' : 'are'} not written`;
  const what = first.startsWith('Group:') ? 'group' : 'member';
  if (isRefused) {
    const why = `, because ${isOne ? `its ${what} needs` : `their ${what}s need`} a person: ${names}; scim-bridge explain ${first} tells what to do`;
    return withReason(end, 'waiting', `${told}${why}`);
  }
  // The sync of a person includes the groups; the sync of a group does not include the members.
  const advice =
    what === 'group' ? '' : `; scim-bridge sync ${first} syncs ${isOne ? 'the' : 'the first'} member`;
  return withReason(end, 'waiting', `${told} yet: ${names}${advice}`);
}

/** Returns the groups or members whose own sync is to come: marked ones, and members who have to leave another group first. */
async function stillToSync(
  { outbox }: ReconcileScope,
  observed: readonly ObservedResource[],
): Promise<ObservedResource[]> {
  const found: ObservedResource[] = [];
  for (const other of observed) {
    const { kind, id } = parseRef(other.ref);
    if (other.marked || (kind === 'User' && (await outbox.pendingRemovals(id)).length > 0)) found.push(other);
  }
  return found;
}

/**
 * Adds to the report of a person the groups, and to the report of a group the members, whose own sync is still to come or was
 * refused.
 * A marked or refused group counts if it has no link, if its name is not confirmed (access goes by the name of a group), or if a
 * comparison found another difference; else its mark may be about other members. Every marked or refused member counts.
 * @param others for a person the groups, for a group the members that may be unwritten
 */
export async function withUnwrittenOthers(
  scope: ReconcileScope,
  end: SyncEnd,
  { kind }: FoundResource,
  others: Ref[],
): Promise<SyncEnd> {
  const { directory, drifts, outbox, target } = scope;
  const names = await readRecordNames(directory, others);
  const unwritten: Ref[] = [];
  for (const { ref, text, marked } of await drifts.readLinks(others)) {
    const link = parseLink(text);
    if (!marked && !refusalOf(link, marked)) continue;
    const { suspectedDrift } = await outbox.resourceStatus(ref);
    const isNamedGroup =
      kind === 'User' && isNameConfirmed(link, target.mapping.groupName(names.get(ref) ?? ''));
    if (link.id === undefined || !isNamedGroup || suspectedDrift.length > 0) unwritten.push(ref);
  }
  const [first] = unwritten;
  if (first === undefined) return end;
  const isOne = unwritten.length === 1;
  const told =
    kind === 'User'
      ? `${counted(unwritten.length, 'group')} of the person ${isOne ? 'does' : 'do'} not have ${isOne ? 'its name' : 'their names'} at the platform`
      : `${counted(unwritten.length, 'account')} of the members ${isOne ? 'is' : 'are'} not written yet`;
  const firstNames = await firstNamesOf(scope, unwritten);
  return withReason(end, 'waiting', `${told}: ${firstNames}; scim-bridge explain ${first} tells why`);
}

/**
 * Returns the source's names of the first groups or people, and the number of the others. A deleted group has its name at the
 * platform.
 */
export async function firstNamesOf(
  { directory, links, target }: ReconcileScope,
  refs: readonly Ref[],
): Promise<string> {
  const first = refs.slice(0, MOST_NAMED);
  const [names, known] = await Promise.all([
    readRecordNames(directory, first),
    links.getMany(target.name, first),
  ]);
  const shown = first.map((ref, index) => names.get(ref) ?? String(known[index]?.core?.displayName ?? ref));
  return someOf(shown, { count: refs.length });
}

/** Returns the command that shows the approval with this id. */
export const showText = ({ connection }: ReconcileScope, id: string): string =>
  `scim-bridge approvals show ${connection}.${id}`;
