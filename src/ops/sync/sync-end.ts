// Tells how a sync ended (`endOf`). The other functions tell, or add to a report (SyncEnd), why the resource is not as desired
// or is left alone.
import { heldUntil, holderWords } from '../../directory/guard/operator-hold.ts';
import { conditionText, deletionText } from '../../directory/outbox/condition-text.ts';
import { isAwaitingDecision } from '../../directory/outbox/link-condition.ts';
import { unrecognisedBy } from '../../directory/outbox/recognition.ts';
import type { Link } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import { pauseWords } from '../../reconcile/breaker-words.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { isChange, isLeftBy, type PlanEntry } from '../../reconcile/entry.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { movedText } from '../../reconcile/tenant/tenant.ts';
import { counted } from '../../support/counted.ts';
import { isoTime } from '../../support/sources.ts';
import type { FoundResource } from '../find.ts';
import { withdrawAdvice } from '../advice.ts';
import { expiredSentence, readApprovalIds } from '../approvals/approval-ids.ts';
import { withPresentCondition } from '../approvals/present-condition.ts';
import { showText, withStoppedRemovals } from './sync-end-memberships.ts';
import { withReason, type SyncEnd } from './sync-outcome.ts';
import { LEFT_OUT } from '../../reconcile/compare/membership-entries.ts';
import { WAITS_FOR_GROUP } from '../../reconcile/compare/group-case.ts';
import { notComparedText } from '../../reconcile/text/not-compared.ts';
import type { Resource } from '../../scim/index.ts';
import { isProtectedName } from '../../sync/group/leavers.ts';
import { LISTED_AS_PROTECTED } from '../../sync/target.ts';

/** Returns the orders and changes that write a dead letter (docs/dead-letters.md). A group is synced for its members too. */
const writtenByOrder = ({ kind }: FoundResource): string =>
  `a dead letter: only scim-bridge sync, scim-bridge dead-letters retry or a new change${kind === 'User' ? '' : ' of it or of its members'} writes it`;

/**
 * Returns the message of a dry run: why its differences would not be written, because the target is on hold or not recognised, or
 * the resource is a dead letter; otherwise why the resource is left alone, if it is.
 * @param differences null: nothing was compared, as at a target that is not recognised
 */
export async function withHold(
  scope: ReconcileScope,
  found: FoundResource,
  differences: PlanEntry[] | null,
): Promise<SyncEnd> {
  const stop = await stopText(scope);
  const differs = differences?.some(isChange) === true;
  const isUnread = differences === null && (await scope.outbox.whyUnrecognised()) !== undefined;
  if (stop !== undefined && (differs || isUnread)) return { message: stop };
  const { blockedSince } = await scope.outbox.resourceStatus(found.ref);
  const end = differs && blockedSince !== null ? { message: writtenByOrder(found) } : {};
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

/** Returns why nothing is written to the target, and what ends that: a hold, a new address, or both; undefined: neither. */
export async function stopText({
  outbox,
  target,
}: Pick<ReconcileScope, 'outbox' | 'target'>): Promise<string | undefined> {
  const hold = await outbox.guardStore.onHold();
  const held = hold ? `on hold by ${holderWords(hold)}: ${heldUntil(target.name, hold)}` : undefined;
  // A hold because of another tenant has advice about the address already.
  if (unrecognisedBy(hold, await outbox.hasMoved()) !== 'address') return held;
  return [held, movedText(target.name)].filter(Boolean).join('; ');
}

/**
 * Adds to the report a difference that no sync can write: a value of an attribute that the platform defines with another type, or a
 * membership whose member or group is gone and cannot be made anew.
 */
export function withConflicts(
  end: SyncEnd,
  { ref, differences }: { ref: Ref; differences: readonly PlanEntry[] | null },
): SyncEnd {
  const lacking = differences?.flatMap(({ action, member, ref: group, reason }) =>
    action === 'addMember' ? [member?.ref, reason.endsWith(WAITS_FOR_GROUP) ? group : null] : [],
  );
  const conflict = differences?.find(
    (entry) =>
      entry.action === 'conflict' &&
      (entry.ref === ref ? entry.attribute !== undefined : entry.ref && lacking?.includes(entry.ref)),
  );
  if (!conflict) return end;
  const isOfGroup = conflict.kind === 'Group';
  const subject = isOfGroup
    ? `the membership in ${conflict.name} is not written: `
    : `${conflict.name} is not in the group: `;
  return withReason(end, 'needsPerson', `${conflict.ref === ref ? '' : subject}${conflict.reason}`);
}

/**
 * Adds to a report without another reason why the resource is not as desired: groups of a person, or removals of members of a
 * group, were not compared.
 * @param count number of these groups or removals
 */
export function withNotCompared(end: SyncEnd, kind: FoundResource['kind'], count = 0): SyncEnd {
  if (count === 0 || (end.outcome ?? 'equal') !== 'equal') return end;
  const message = [end.message, notComparedText(kind, count)].filter(Boolean).join('; ');
  // Not `waiting`, which may never end: the next sync may compare the same groups.
  return { ...end, message };
}

/** Adds to a report without a message the number of differences that the policy of the target leaves at the platform. */
export function withLeftByPolicy(
  { target }: ReconcileScope,
  end: SyncEnd,
  { ref, differences }: { ref: Ref; differences: readonly PlanEntry[] | null },
): SyncEnd {
  const left = (differences ?? []).filter((entry) => isLeftBy(target.policy, entry)).length;
  if (left === 0 || end.message !== undefined) return end;
  const message = `the policy ${target.policy.policy} leaves ${counted(left, 'difference')}: scim-bridge sync ${ref} --dry-run lists ${left === 1 ? 'it' : 'them'}`;
  return { ...end, message };
}

/** Returns the report when a difference of the resource was not noted, so that no sync repairs it. */
export const unnotedEnd = (ref: Ref): SyncEnd => ({
  outcome: 'waiting',
  message: `${ref} changed during the comparison or was being synced, so what differs there is not repaired yet: repeat the command`,
});

/** Returns the report when the platform could not be read; `compared` null: not at all, else only the values could not. */
export const unreadEnd = (compared: ComparedOne | null): SyncEnd => ({
  outcome: 'waiting',
  message: compared
    ? 'the attribute values could not be read, so nothing is known of values that differ'
    : 'the platform could not be read, or the resource changed during each read, so nothing is known of what differs',
});

/** Reasons that are not put before the message, because no dead letter has them. */
const DECIDED: ReadonlySet<string> = new Set(['LastAdministrator', 'Protected', 'Rejected']);

/** Returns how the sync of a resource ended, by its mark, condition and held changes in Redis. */
export async function endOf(scope: ReconcileScope, ref: Ref): Promise<SyncEnd> {
  const { clock, outbox, links, target } = scope;
  const [status, link, stop, { pause }] = await Promise.all([
    outbox.resourceStatus(ref),
    links.get(target.name, ref),
    stopText(scope),
    target.breaker.read(),
  ]);
  const { mark, blockedSince, guard } = status;
  const { condition } = await withPresentCondition(outbox, ref, link, status);
  const told = `${condition?.message ?? 'the guard holds a change'}${deletionText(condition, outbox.deletesLeavers)}`;
  // A condition about held changes, or of a dead letter, may name a rejection too.
  const takeBack = /(^|; )a person rejected/.test(told)
    ? `; ${withdrawAdvice({ ref, approvals: await readApprovalIds(scope.connection, outbox) })}`
    : '';
  const why: SyncEnd = {};
  if (condition)
    why.message = `${DECIDED.has(condition.reason) ? '' : `${condition.reason}: `}${told}${takeBack}`;
  if (blockedSince !== null) return { outcome: 'needsPerson', ...why };
  if (mark && stop !== undefined) return { outcome: 'held', message: stop };
  const isHeld = guard.some(({ state }) => state === 'held');
  const isExpired = !isHeld && guard.some(({ state }) => state === 'expired');
  // While there is a mark, the guard judges the changes of an expired approval anew in the next attempt of the sync.
  const isUnasked = mark !== null && isExpired;
  if (!isUnasked && (isHeld || isExpired || condition?.reason === 'Held')) {
    const open = await outbox.guardStore.open();
    const expired = await expiredSentence(target.name, outbox.guardStore, { open, guard });
    const show = open ? `: ${showText(scope, open.id)}` : '';
    const message = expired ? `${told}${takeBack}. ${expired}` : `${told}${show}${takeBack}`;
    return { outcome: 'held', message };
  }
  if (!mark) return { outcome: 'equal', ...why };
  // A queued mark and a running sync have no due time; they are due.
  const dueAt = mark.dueAt ?? 0;
  const isDue = dueAt <= clock.now();
  const nextTry = isDue
    ? `its next attempt is due: scim-bridge explain ${ref} says what it waits for`
    : `it is tried again at ${isoTime(dueAt)}`;
  const awaited = pause ? pauseWords(pause) : nextTry;
  const ofExpired = isUnasked && isAwaitingDecision(condition) ? `${told}${takeBack}; ${awaited}` : undefined;
  const end: SyncEnd = { outcome: 'waiting', message: ofExpired ?? why.message ?? awaited };
  if (!mark.isBehindHeld) return end;
  // The time of the next attempt is left out: the decision about the removal, or the mend of its group, comes first.
  const known: SyncEnd = { outcome: 'waiting', ...why };
  const stopped = await withStoppedRemovals(scope, known, ref);
  return stopped === known ? end : stopped;
}

/** Returns why a resource is left alone; undefined when it is meant for the target, deleted at the source, or damaged. */
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
  const isListed = [name, String(core.userName)].some((each) => isProtectedName({ target }, each));
  return isListed ? LISTED_AS_PROTECTED : undefined;
}
