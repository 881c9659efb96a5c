// Finds the changes of a plan that no sync would write: rejected by an operator, held by the guard, about a protected
// person, or a pending membership or value that waits for a decision about the account or about another group. The plan only
// reports them.
import { MEMBERSHIP_SIGN, withSign } from '../../directory/outbox/pending-memberships.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { storedNameOf } from '../../directory/member-names.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { fold, parseRef, type Ref } from '../../directory/records.ts';
import { guardKindOf, isChange, needsMark, reportedAs, type PlanEntry } from '../entry.ts';
import { WAITS_FOR_GROUP, WAITS_FOR_USER } from '../compare/group-case.ts';
import type { ReconcileScope } from '../scope.ts';
import { removal } from '../../sync/names/succession.ts';
import { keptBySettings } from './left-by-settings.ts';
import { isLostValue } from './unmappable.ts';
import {
  behindHeld,
  waitingMemberships,
  waitingValues,
  type MembershipWait,
} from './waiting-for-decision.ts';

/** Reason of an entry for a change that the guard holds. */
export const HELD_BY_GUARD =
  'held by the guard until an operator decides or the approval expires: see scim-bridge approvals list';
/**
 * Reasons of entries that no sync writes, by cause. An entry has no other field for its cause, so `isOfDecision` and
 * `becomesPending` recognise it by these texts and those of WAITS: with a new text, look at both.
 */
const REASONS = {
  rejected: 'rejected by an operator, so it is not written: see scim-bridge exceptions',
  held: HELD_BY_GUARD,
  keptMember:
    'a person rejected the removal of a member, which the deletion would carry out: see scim-bridge exceptions',
  afterHeld:
    'the account is deleted after its deactivation, which the guard holds: see scim-bridge approvals list',
  afterRejected:
    'the account is deleted after its deactivation, which an operator rejected: see scim-bridge exceptions',
  kept: 'the present settings leave this membership, and the next sync of the group ends the removal without a write',
  protected: 'the person is listed in users.protected, so it is not written',
};
/** Text after the reason of a pending membership that waits. */
const WAITS: Record<Exclude<MembershipWait, 'leaver'>, string> = {
  held: '; waits for the held account: see scim-bridge approvals list',
  heldRemoval:
    '; waits for the held removal of the person from another group: see scim-bridge approvals list',
  refusedRemoval:
    '; waits for the removal of the person from another group, which needs a person: scim-bridge explain of this person names the group',
  refused: `${WAITS_FOR_USER}, and for the held removal of the person from another group: see scim-bridge approvals list`,
  rejected: '; waits for the account, whose change an operator rejected: see scim-bridge exceptions',
};
/** Text after the reason of an attribute value of a person whose deactivation is held. */
const BEHIND_CLOSING = '; waits for the held deactivation of the person: see scim-bridge approvals list';
/** Text after the reason of a change that waits until another resource, whose own change is held, gives up its name or account. */
const BEHIND =
  '; waits for a held change of the user or group that has the name or account now: see scim-bridge approvals list';

/** Text after the reason of an activation: the sync ends before it while the guard holds the emptying of a value (sync-user.ts). */
const BEHIND_EMPTYING =
  '; waits for the held emptying of an attribute of the person: see scim-bridge approvals list';

/**
 * Returns whether the reason names a held or rejected change, or a change that waits for the decision about another one. All texts
 * above that are about a decision name one of these commands, and no other reason does.
 */
export const isOfDecision = (reason: string): boolean => /scim-bridge (approvals|exceptions)/.test(reason);

/** By entry, the reason why no sync writes it. */
type Reasons = Map<PlanEntry, string>;

/**
 * Returns the entries without additions of people whom the source took away; those that no sync would write have the effect
 * `report`.
 */
export async function withoutUnwritten(
  scope: Pick<ReconcileScope, 'outbox' | 'target' | 'drifts' | 'directory'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  // A later cause replaces an earlier one. The order: waits, verdicts of the guard, settings, names and accounts of others,
  // protection.
  const why: Reasons = new Map();
  const unwanted = new Set<PlanEntry>();
  for (const [entry, wait] of await waitingMemberships(scope, entries))
    if (wait === 'leaver') unwanted.add(entry);
    else why.set(entry, `${entry.reason}${WAITS[wait]}`);
  const stoppedValues = new Map<Ref, string>();
  for (const [entry, stop] of await waitingValues(scope, entries)) {
    why.set(entry, `${entry.reason}${WAITS[stop]}`);
    if (isValue(entry)) stoppedValues.set(entry.ref, WAITS[stop]);
  }
  const decided = await decidedChanges(scope, entries);
  for (const { entry, verdict } of decided) why.set(entry, REASONS[verdict]);
  noteWaitsForOwnDecision(entries, { stoppedValues, decided }, why);
  const leaving = entries.filter((entry) => entry.action === 'removeMember' && isChange(entry));
  const kept = await keptBySettings(
    scope,
    leaving.flatMap(({ ref }) => ref ?? []),
  );
  for (const entry of leaving) if (entry.ref && kept.has(entry.ref)) why.set(entry, REASONS.kept);
  for (const entry of await behindHeld(scope, entries)) why.set(entry, `${entry.reason}${BEHIND}`);
  const listed = new Set(scope.target.policy.users.protected.map(fold));
  for (const entry of entries)
    if (isChange(entry) && listed.has(fold(personIn(entry)))) why.set(entry, REASONS.protected);
  return entries.flatMap((entry): PlanEntry[] => {
    const reason = why.get(entry);
    if (unwanted.has(entry)) return [];
    return [reason === undefined ? entry : { ...entry, effect: 'report', reason }];
  });
}

/**
 * Adds the reasons of changes of a person that wait for a held change of the same person, and of definitions that no sync of a
 * person makes meanwhile.
 * @param found.stoppedValues by person, the text that says why no sync writes an attribute value before an operator acts
 */
function noteWaitsForOwnDecision(
  entries: readonly PlanEntry[],
  { stoppedValues, decided }: { stoppedValues: ReadonlyMap<Ref, string>; decided: readonly DecidedChange[] },
  why: Reasons,
): void {
  const heldOf = (kind: Destruction['kind']): Set<Ref> =>
    new Set(
      decided.flatMap(({ item, verdict }) => (verdict === 'held' && item.kind === kind ? item.ref : [])),
    );
  const heldClosings = heldOf('deactivate');
  const heldEmptyings = heldOf('clearAttributes');
  // The sync of a person whose deactivation is held writes core values only (sync-user.ts).
  const closing = [...heldClosings].map((ref): [Ref, string] => [ref, BEHIND_CLOSING]);
  const withoutValues = new Map([...stoppedValues, ...closing]);
  // The sync of another user writes values, and defines the attributes that the platform lacks.
  const definesElsewhere = entries.some(
    (entry) => entry.kind === 'User' && entry.ref && !withoutValues.has(entry.ref) && isChange(entry),
  );
  for (const entry of entries) {
    const { action, follows } = entry;
    const isLeftUndefined = action === 'defineAttribute' && !definesElsewhere;
    const waits = isLeftUndefined && follows && withoutValues.get(follows);
    if (waits) why.set(entry, `${entry.reason}${waits}`);
    else if (isValue(entry) && heldClosings.has(entry.ref) && !why.has(entry))
      why.set(entry, `${entry.reason}${BEHIND_CLOSING}`);
    else if (isActivation(entry) && heldEmptyings.has(entry.ref) && !why.has(entry))
      why.set(entry, `${entry.reason}${BEHIND_EMPTYING}`);
  }
}

/** A change that the guard holds, that a person rejected, or that waits for such a change of the same resource. */
interface DecidedChange {
  entry: PlanEntry;
  item: Destruction;
  verdict: 'held' | 'rejected' | 'afterHeld' | 'afterRejected' | 'keptMember';
}

/** Returns the changes that no sync writes because of a verdict of the guard, or of an operator. */
async function decidedChanges(
  { outbox, target }: Pick<ReconcileScope, 'outbox' | 'target'>,
  entries: readonly PlanEntry[],
): Promise<DecidedChange[]> {
  const { guardStore } = outbox;
  const asked = entries.flatMap((entry) => {
    // The sync of a group removes members before it writes the rest. A held or rejected removal therefore waits for the operator's
    // decision also where its entry is only reported, as for a group that is a dead letter. Only the policy `sync` removes
    // members.
    const isRemoval = entry.action === 'removeMember' && target.policy.policy === 'sync';
    const item = toDestruction(isRemoval ? { ...entry, effect: 'apply' } : entry);
    return item ? [{ entry, item }] : [];
  });
  const items = asked.map(({ item }) => item);
  const [verdicts, closings, deletions] = await Promise.all([
    guardStore.verdictsOn(items),
    guardStore.verdictsOn(items.map(({ ref }) => ({ kind: 'deactivate', ref }))),
    withHeldDeletion(guardStore, items),
  ]);
  const decided: DecidedChange[] = [];
  for (const [index, { entry, item }] of asked.entries()) {
    const closing = isOpenAccount(entry) ? closings[index] : undefined;
    const verdict =
      verdicts[index] ??
      (deletions[index] ? 'held' : undefined) ??
      (closing && (closing === 'held' ? 'afterHeld' : 'afterRejected')) ??
      ((await keepsMember(outbox, item)) ? 'keptMember' : undefined);
    if (verdict) decided.push({ entry, item, verdict });
  }
  return decided;
}

/**
 * Returns whether a run makes the reported addition or change of a person pending, so that it is written after the decision for which
 * it waits. Without a pending sign or a mark only a later comparison would find the difference again.
 */
export const becomesPending = (entry: PlanEntry): boolean =>
  (entry.action === 'addMember' || entry.kind === 'User') &&
  entry.effect === 'report' &&
  [...Object.values(WAITS), BEHIND_EMPTYING].some((text) => entry.reason.endsWith(text)) &&
  needsMark({ ...entry, effect: 'apply' });

/** Returns whether the entry writes or clears an attribute value of a person. */
export const isValue = (entry: PlanEntry): entry is PlanEntry & { ref: Ref; attribute: string } =>
  entry.ref !== null && (entry.action === 'setAttribute' || entry.action === 'clearAttribute');

/** Returns whether the entry opens the account of a person. */
const isActivation = (entry: PlanEntry): entry is PlanEntry & { ref: Ref } =>
  entry.ref !== null && entry.action === 'reactivate' && isChange(entry);

/** Returns whether the entry deletes an account that has to be deactivated before. */
export const isOpenAccount = ({ action, kind, before }: PlanEntry): boolean =>
  action === 'delete' && kind === 'User' && before?.active === true;

/**
 * Returns for each change whether it removes a member of a group whose deletion the guard holds. Such a member leaves with the
 * group (dissolve-group.ts), unless the removal itself is approved.
 */
async function withHeldDeletion(guardStore: Outbox['guardStore'], items: Destruction[]): Promise<boolean[]> {
  const deletions = await guardStore.verdictsOn(items.map(({ ref }) => ({ kind: 'delete', ref })));
  const isHeld = items.map(({ kind }, index) => kind === 'removeMembers' && deletions[index] === 'held');
  if (!isHeld.includes(true)) return isHeld;
  const permitted = await guardStore.arePermitted(items);
  return isHeld.map((held, index) => held && !permitted[index]);
}

/** Returns whether a group that was deleted at the source stays, because a person rejected the removal of a member. */
async function keepsMember(
  { guardStore, pendingMembers }: Outbox,
  { kind, ref }: Destruction,
): Promise<boolean> {
  const group = parseRef(ref);
  if (kind !== 'delete' || group.kind !== 'Group') return false;
  // A kept removal may also be that of a protected user, or of a leaver whose account stays open: these do not keep the group.
  const kept = withSign(await pendingMembers(group.id), MEMBERSHIP_SIGN.keptRemoval);
  return (await guardStore.areRejected(kept.map((user) => removal(group.id, user)))).includes(true);
}

/**
 * Returns the entries; a membership that waits for the end of a conflict gets the effect `report`. Additions to and removals from a
 * group wait for a conflict of the group, and additions also for one of the user. Nothing waits here for the conflict of an applied
 * value that the platform no longer has (`isLostValue`): `reportUnmappable` decides about it.
 */
export function withConflictsReported(entries: readonly PlanEntry[]): PlanEntry[] {
  const conflicts = new Set(
    entries.flatMap((entry) =>
      entry.action === 'conflict' && entry.ref !== null && !isLostValue(entry) ? [entry.ref] : [],
    ),
  );
  return entries.map((entry) => {
    const { action, ref, member } = entry;
    if (!member || !isChange(entry)) return entry;
    if (ref && conflicts.has(ref)) return reportedAs(entry, WAITS_FOR_GROUP);
    const isOfConflict = action === 'addMember' && member.ref && conflicts.has(member.ref);
    return isOfConflict ? reportedAs(entry, WAITS_FOR_USER) : entry;
  });
}

/** Returns the userName of the person that the entry concerns; '' for a group. */
const personIn = ({ kind, name, member }: PlanEntry): string => member?.name ?? (kind === 'User' ? name : '');

/** Returns the change for which the guard is asked first, in its form: an open account is closed before it is deleted. */
export function firstDestruction(entry: PlanEntry): Destruction | undefined {
  const item = toDestruction(entry);
  return item && isOpenAccount(entry) ? { kind: 'deactivate', ref: item.ref } : item;
}

/** Returns the change in the form of the guard; undefined for a change that takes nothing away. */
export function toDestruction(entry: PlanEntry): Destruction | undefined {
  const kind = guardKindOf(entry.action);
  const { ref, attribute, member } = entry;
  if (!kind || !ref || !isChange(entry)) return undefined;
  if (kind === 'clearAttributes')
    return attribute === undefined ? undefined : { kind, ref, subject: attribute };
  if (kind !== 'removeMembers') return { kind, ref };
  return member && { kind, ref, subject: storedNameOf(member) };
}
