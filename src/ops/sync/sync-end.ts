// Tells how the sync of a resource ended, by the state of the resource in Redis afterwards: a dead letter needs a person; a mark
// means that the change is not written yet, and the guard or the target may hold it; without a mark the sync has ended.
import { deletionText } from '../../directory/outbox/condition-text.ts';
import { isAwaitingDecision, type Condition } from '../../directory/outbox/link-condition.ts';
import type { ResourceStatus } from '../../directory/outbox/resource-status.ts';
import type { Ref } from '../../directory/records.ts';
import { pauseWords } from '../../reconcile/breaker-words.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { isoTime } from '../../support/sources.ts';
import { withdrawAdvice } from '../advice.ts';
import { expiredSentence, readApprovalIds } from '../approvals/approval-ids.ts';
import { withPresentCondition } from '../approvals/present-condition.ts';
import { showText, withStoppedRemovals } from './sync-end-memberships.ts';
import type { SyncEnd } from './sync-outcome.ts';
import { stopText } from './sync-stops.ts';

/** Returns how the sync of a resource ended, by its mark, condition and held changes in Redis. */
export async function endOf(scope: ReconcileScope, ref: Ref): Promise<SyncEnd> {
  const { outbox, links, target } = scope;
  const [status, link, stop, { pause }] = await Promise.all([
    outbox.resourceStatus(ref),
    links.get(target.name, ref),
    stopText(scope),
    target.breaker.read(),
  ]);
  const { mark, blockedSince, guard } = status;
  const { condition } = await withPresentCondition(outbox, ref, link, status);
  const cause = await causeIn(scope, ref, condition);
  const why: SyncEnd = condition ? { message: messageOf(condition, cause) } : {};
  if (blockedSince !== null) return { outcome: 'needsPerson', ...why };
  if (mark && stop !== undefined) return { outcome: 'held', message: stop };
  const isHeld = guard.some(({ state }) => state === 'held');
  const isExpired = !isHeld && guard.some(({ state }) => state === 'expired');
  // While there is a mark, the guard judges the changes of an expired approval anew in the next attempt of the sync.
  const isUnasked = mark !== null && isExpired;
  if (!isUnasked && (isHeld || isExpired || condition?.reason === 'Held'))
    return { outcome: 'held', message: await heldText(scope, guard, cause) };
  if (!mark) return { outcome: 'equal', ...why };
  const awaited = pause ? pauseWords(pause) : nextTryText(scope, ref, mark);
  const ofExpired =
    isUnasked && isAwaitingDecision(condition) ? `${cause.told}${cause.takeBack}; ${awaited}` : undefined;
  const end: SyncEnd = { outcome: 'waiting', message: ofExpired ?? why.message ?? awaited };
  if (!mark.isBehindHeld) return end;
  // The time of the next attempt is left out: the decision about the removal, or the mend of its group, comes first.
  const known: SyncEnd = { outcome: 'waiting', ...why };
  const stopped = await withStoppedRemovals(scope, known, ref);
  return stopped === known ? end : stopped;
}

/** Why a resource is not as desired, in words. */
interface Cause {
  /** Message of the condition, and whether the account is deleted afterwards. */
  told: string;
  /** How to take a rejection back, with a semicolon in front; '': no person rejected anything. */
  takeBack: string;
}

async function causeIn(
  { connection, outbox }: ReconcileScope,
  ref: Ref,
  condition: Condition | undefined,
): Promise<Cause> {
  const told = `${condition?.message ?? 'the guard holds a change'}${deletionText(condition, outbox.deletesLeavers)}`;
  // A condition about held changes, or of a dead letter, may name a rejection too.
  const takeBack = /(^|; )a person rejected/.test(told)
    ? `; ${withdrawAdvice({ ref, approvals: await readApprovalIds(connection, outbox) })}`
    : '';
  return { told, takeBack };
}

/** Reasons that are not put before the message, because no dead letter has them. */
const DECIDED: ReadonlySet<string> = new Set(['LastAdministrator', 'Protected', 'Rejected']);

const messageOf = ({ reason }: Condition, { told, takeBack }: Cause): string =>
  `${DECIDED.has(reason) ? '' : `${reason}: `}${told}${takeBack}`;

/** Returns the cause, with the approval to look at; or with the words that the approval has expired. */
async function heldText(
  scope: ReconcileScope,
  guard: ResourceStatus['guard'],
  { told, takeBack }: Cause,
): Promise<string> {
  const { outbox, target } = scope;
  const open = await outbox.guardStore.open();
  const expired = await expiredSentence(target.name, outbox.guardStore, { open, guard });
  const show = open ? `: ${showText(scope, open.id)}` : '';
  return expired ? `${told}${takeBack}. ${expired}` : `${told}${show}${takeBack}`;
}

/** Returns when the next attempt of a marked resource is made. A queued mark and a running sync have no due time; they are due. */
function nextTryText(
  { clock }: ReconcileScope,
  ref: Ref,
  { dueAt }: NonNullable<ResourceStatus['mark']>,
): string {
  const at = dueAt ?? 0;
  return at <= clock.now()
    ? `its next attempt is due: scim-bridge explain ${ref} says what it waits for`
    : `it is tried again at ${isoTime(at)}`;
}
