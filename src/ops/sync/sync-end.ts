// Tells how the sync of one resource ended, and why it is not as desired or left alone.
import { heldUntil } from '../../directory/guard/operator-hold.ts';
import { conditionText, deletionText, parseLink, type Link } from '../../directory/outbox/links.ts';
import { parseRef, refOf, type Ref, fold } from '../../directory/records.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { pauseWords } from '../../reconcile/breaker-words.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { isChange, refusalOf, type PlanEntry } from '../../reconcile/entry.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { waitingMemberships } from '../../reconcile/unwritten/waiting-for-decision.ts';
import { counted } from '../../support/counted.ts';
import { isoTime } from '../../support/sources.ts';
import { isNameConfirmed } from '../../sync/group/group-name.ts';
import { removal } from '../../sync/names/succession.ts';
import type { FoundResource } from '../find.ts';
import { withPresentCondition } from '../approvals/present-condition.ts';
import { LEFT_OUT, notComparedText } from '../../reconcile/compare/compare-memberships.ts';
import type { Resource } from '../../scim/index.ts';
import { LISTED_AS_PROTECTED } from '../../sync/target.ts';

/**
 * `equal`: as desired, as far as it was compared. `held`: held by the guard or an operator. `waiting`: not finished in time, the
 * service continues. `needsPerson`: a dead letter, or a conflict with an attribute definition.
 */
export type SyncOutcomeName = 'equal' | 'held' | 'waiting' | 'needsPerson';

/** Number of names in a message. */
const MOST_NAMED = 5;

export interface SyncEnd {
  /** Undefined after a dry run. */
  outcome?: SyncOutcomeName;
  /** Reason why the resource is not as desired, is left alone, or (after a dry run) is not written now. */
  message?: string;
}

/** Names the orders that write a dead letter. */
const WRITTEN_BY_ORDER =
  'a dead letter: only scim-bridge sync, scim-bridge dead-letters retry or a new change writes it';

/** Returns the end of a dry run. Nothing that differs is written while the target is on hold, and a dead letter only by an order. */
export async function withHold(
  scope: ReconcileScope,
  found: FoundResource,
  differences: PlanEntry[] | null,
): Promise<SyncEnd> {
  const hold = await scope.outbox.guardStore.onHold();
  const differs = differences?.some(isChange) === true;
  if (hold && differs) return { message: holdText(scope, hold) };
  const { blockedSince } = await scope.outbox.resourceStatus(found.ref);
  const end = differs && blockedSince !== null ? { message: WRITTEN_BY_ORDER } : {};
  return withLeftAlone(scope, found, end);
}

/** Replaces the message of a SyncEnd by the reason why the resource is left alone; without such a reason it stays. */
export async function withLeftAlone(
  scope: ReconcileScope,
  found: FoundResource,
  end: SyncEnd,
): Promise<SyncEnd> {
  const why = await leftAloneText(scope, found, await scope.links.get(scope.target.name, found.ref));
  return why === undefined ? end : { ...end, message: why };
}

/** Returns who holds all writes to the target, and how the hold ends. */
export const holdText = ({ target }: ReconcileScope, hold: { by: string }): string =>
  `on hold by ${hold.by}: ${heldUntil(target.name, hold)}`;

/**
 * Replaces the end of a person whose removal from a group the guard holds, or with a membership that is not written yet, and of a
 * group whose members wait for a decision about their accounts. Nothing of the resource itself is left to write, and it differs
 * until the decision or the write of the membership.
 */
export async function withWaiting(
  scope: ReconcileScope,
  end: SyncEnd,
  { ref, entries }: { ref: Ref; entries: readonly PlanEntry[] },
): Promise<SyncEnd> {
  if (!ref.startsWith('Group:')) {
    const held = await withHeldRemovals(scope, end, ref);
    return held === end ? withUnwrittenMemberships(scope, end, await waitingGroups(scope, ref)) : held;
  }
  const { pendingMemberships: pending } = await scope.outbox.resourceStatus(ref);
  const waiting = [...(await waitingMemberships(scope, entries))].filter(
    ([{ member }]) => member?.ref && pending.has(parseRef(member.ref).id),
  );
  if (waiting.length === 0) return withUnwrittenMemberships(scope, end, await waitingMembers(scope, ref));
  const names = waiting.map(([{ member }]) => member?.name ?? '');
  const isHeld = waiting.some(([, wait]) => wait !== 'rejected');
  const cause = isHeld
    ? 'the guard holds, see scim-bridge approvals list'
    : 'an operator rejected, see scim-bridge exceptions';
  const message = `${counted(names.length, 'membership')} not written, because of changes of the same people that ${cause}: ${firstOf(names)}`;
  return { outcome: isHeld ? 'held' : 'equal', message };
}

/** Returns the first names, and the number of the others. */
function firstOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}

/** Replaces the end of a person if the guard holds the removal from a group, or the deletion of a group that the person is in. */
async function withHeldRemovals(scope: ReconcileScope, end: SyncEnd, ref: Ref): Promise<SyncEnd> {
  const { outbox } = scope;
  const { pendingMemberships } = await outbox.resourceStatus(ref);
  const groups = [...pendingMemberships].flatMap(([id, sign]) => (sign === '-' ? [refOf('Group', id)] : []));
  const [removals, deletions] = await Promise.all([
    outbox.guardStore.verdictsOn(groups.map((group) => removal(parseRef(group).id, parseRef(ref).id))),
    outbox.guardStore.verdictsOn(groups.map((group) => ({ kind: 'delete', ref: group }))),
  ]);
  const held = groups.filter((_, index) => removals[index] === 'held' || deletions[index] === 'held');
  if (held.length === 0) return end;
  const [named, open] = await Promise.all([namesOf(scope, held), outbox.guardStore.open()]);
  const told = `the guard holds the removal from ${counted(held.length, 'group')}: ${firstOf(named)}`;
  return { outcome: 'held', message: open ? `${told}: ${showText(scope, open.id)}` : told };
}

/** Returns the groups that have to write a membership of the person. */
async function waitingGroups({ outbox }: ReconcileScope, ref: Ref): Promise<Ref[]> {
  const { pendingMemberships } = await outbox.resourceStatus(ref);
  return [...pendingMemberships].flatMap(([id, sign]) => (sign === 'r' ? [] : [refOf('Group', id)]));
}

/** Returns the members whom the group lacks: additions are pending, or the account that was a member is gone. */
async function waitingMembers({ drifts, outbox }: ReconcileScope, ref: Ref): Promise<Ref[]> {
  const { id } = parseRef(ref);
  const signs = await outbox.pendingMembers(id);
  const members = await drifts.membersOf(id);
  return members.flatMap(({ user, link }) =>
    signs.get(user) === '+' || link.id === undefined ? [refOf('User', user)] : [],
  );
}

/**
 * Replaces the end of a person or group with memberships that are not written yet. Nothing writes them while the last sync of the
 * other side, the group or the member, was refused, until somebody acts.
 * @param others the groups of the person, or the members of the group
 */
async function withUnwrittenMemberships(
  scope: ReconcileScope,
  end: SyncEnd,
  others: Ref[],
): Promise<SyncEnd> {
  const { drifts } = scope;
  const observed = await drifts.readLinks(others);
  const refused = observed.filter(({ text, marked }) => refusalOf(parseLink(text), marked));
  const found = refused.length > 0 ? refused : observed.filter(({ marked }) => marked);
  const [first] = found;
  if (first === undefined) return end;
  const names = firstOf(
    await namesOf(
      scope,
      found.map((other) => other.ref),
    ),
  );
  const isOne = found.length === 1;
  const what = first.ref.startsWith('Group:') ? 'group' : 'member';
  const why = `, because ${isOne ? `its ${what} needs` : `their ${what}s need`} a person: ${names}; scim-bridge explain ${first.ref} tells what to do`;
  const told = `${counted(found.length, 'membership')} ${isOne ? 'is' : 'are'} not written`;
  // The sync of a person includes the groups; the sync of a group does not include the members.
  const advice =
    what === 'group' ? '' : `; scim-bridge sync ${first.ref} syncs ${isOne ? 'the' : 'the first'} member`;
  return { outcome: 'waiting', message: `${told}${refused.length > 0 ? why : ` yet: ${names}${advice}`}` };
}

/**
 * Replaces the end of a person with groups that still have to be made or to get their names: access goes by the name of a group.
 * A group with its name may be marked for other members. Replaces the end of a group with members whose account is not made anew.
 * @param others these groups, or these members
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
    const isNamed = kind === 'User' && isNameConfirmed(link, target.mapping.groupName(names.get(ref) ?? ''));
    if (link.id === undefined || !isNamed || suspectedDrift.length > 0) unwritten.push(ref);
  }
  const [first] = unwritten;
  if (first === undefined) return end;
  const count =
    kind === 'User'
      ? `${counted(unwritten.length, 'group')} of the person`
      : `${counted(unwritten.length, 'account')} of the members`;
  const message = `${count} ${unwritten.length === 1 ? 'is' : 'are'} not written yet: scim-bridge explain ${first} tells why`;
  return { outcome: 'waiting', message };
}

/** Returns the names of groups or people at the source; of a deleted group the name at the platform. */
async function namesOf({ directory, links, target }: ReconcileScope, refs: Ref[]): Promise<string[]> {
  const [names, known] = await Promise.all([
    readRecordNames(directory, refs),
    links.getMany(target.name, refs),
  ]);
  return refs.map((ref, index) => names.get(ref) ?? String(known[index]?.core?.displayName ?? ref));
}

/**
 * Replaces the end of a person with a value of an attribute that the platform defines with another type, and of a group that lacks
 * a member whose account is gone and cannot be made anew: no sync writes the value or the membership.
 */
export function withConflicts(
  end: SyncEnd,
  { ref, differences }: { ref: Ref; differences: readonly PlanEntry[] | null },
): SyncEnd {
  const lacking = differences?.flatMap(({ action, member }) => (action === 'addMember' && member?.ref) || []);
  const conflict = differences?.find(
    (entry) =>
      entry.action === 'conflict' &&
      (entry.ref === ref ? entry.attribute !== undefined : entry.ref && lacking?.includes(entry.ref)),
  );
  if (!conflict) return end;
  const subject = conflict.ref === ref ? '' : `${conflict.name} is not in the group: `;
  return { outcome: 'needsPerson', message: `${subject}${conflict.reason}` };
}

/**
 * Adds that groups of a person were not compared to an end without another reason why the person is not as desired.
 * @param count number of these groups
 */
export function withNotCompared(end: SyncEnd, count = 0): SyncEnd {
  if (count === 0 || (end.outcome ?? 'equal') !== 'equal') return end;
  const message = [end.message, notComparedText(count)].filter(Boolean).join('; ');
  // `waiting` could stay forever: the next sync may compare the same groups again.
  return { ...end, message };
}

/** Returns the end when a difference of the resource was not noted, so that no sync repairs it. */
export const unnotedEnd = (ref: Ref): SyncEnd => ({
  outcome: 'waiting',
  message: `${ref} changed during the comparison or was being synced, so what differs there is not repaired yet: repeat the command`,
});

/** Returns the end when the platform could not be read; `compared` null: not at all, else only the values could not. */
export const unreadEnd = (compared: ComparedOne | null): SyncEnd => ({
  outcome: 'waiting',
  message: compared
    ? 'the attribute values could not be read, so nothing is known of values that differ'
    : 'the platform could not be read, or the resource changed during each read, so nothing is known of what differs',
});

const showText = ({ connection }: ReconcileScope, id: string): string =>
  `scim-bridge approvals show ${connection}.${id}`;

/** Conditions whose message needs no reason before it, because no dead letter has it. */
const DECIDED: ReadonlySet<string> = new Set(['LastAdministrator', 'Protected', 'Rejected']);

/** Returns how a sync of the workers ended, by what is stored about the resource. */
export async function endOf(scope: ReconcileScope, ref: Ref): Promise<SyncEnd> {
  const { clock, outbox, links, target } = scope;
  const [status, link, hold, { pause }] = await Promise.all([
    outbox.resourceStatus(ref),
    links.get(target.name, ref),
    outbox.guardStore.onHold(),
    target.breaker.read(),
  ]);
  const { mark, blockedSince, guard } = status;
  const { condition } = await withPresentCondition(outbox, ref, link, status);
  const why: SyncEnd = {};
  const told = `${condition?.message ?? 'the guard holds a change'}${deletionText(condition, outbox.deletesLeavers)}`;
  if (condition) why.message = DECIDED.has(condition.reason) ? told : `${condition.reason}: ${told}`;
  if (blockedSince !== null) return { outcome: 'needsPerson', ...why };
  if (mark && hold) return { outcome: 'held', message: holdText(scope, hold) };
  if (guard.some(({ state }) => state === 'held') || condition?.reason === 'Held') {
    const open = await outbox.guardStore.open();
    return { outcome: 'held', message: open ? `${told}: ${showText(scope, open.id)}` : told };
  }
  if (!mark) return { outcome: 'equal', ...why };
  const dueAt = mark.dueAt ?? 0;
  const isDue = dueAt <= clock.now();
  const nextTry = isDue
    ? `its next attempt is due: scim-bridge explain ${ref} says what it waits for`
    : `it is tried again at ${isoTime(dueAt)}`;
  return { outcome: 'waiting', message: why.message ?? (pause ? pauseWords(pause) : nextTry) };
}

/** Returns the reason as words; undefined when the resource is meant for the target, or deleted at the source. */
async function leftAloneText(
  { target, directory, outbox }: ReconcileScope,
  { kind, id, name, record }: FoundResource,
  link: Link,
): Promise<string | undefined> {
  if (link.condition?.reason === 'Protected') return conditionText(link.condition, outbox.settings);
  if (!record || record.damaged) return undefined;
  if (kind === 'Group') {
    if (target.mapping.groupName(name) !== undefined) return undefined;
    return `${LEFT_OUT}${link.id === undefined ? '' : ', and the group at the platform stays as it is'}`;
  }
  const [joined = []] = await directory.groupsOf([id]);
  const { inScope, core } = await target.mapping.user(JSON.parse(record.text) as Resource, id, joined);
  if (!inScope) return `outside users.scope of the target ${target.name}`;
  const names = new Set([name, String(core.userName)].map(fold));
  return target.policy.users.protected.some((each) => names.has(fold(each)))
    ? LISTED_AS_PROTECTED
    : undefined;
}
