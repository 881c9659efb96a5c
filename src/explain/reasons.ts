// Converts the facts about a resource to the sentences below the summary, in the order of the page: reasons and advice. The
// files *-reasons.ts have the sentences of one subject each. Pure.
import { accountDeletionReason } from './account-deletion.ts';
import type { ExplainedFacts } from './explanation.ts';
import type { ExceptionReason } from '../directory/outbox/exceptions.ts';
import { holdAdvice } from '../directory/guard/operator-hold.ts';
import { unrecognisedBy } from '../directory/outbox/recognition.ts';
import { answerWords, failureSinceWords, newKeyAdvice, pauseWords } from '../reconcile/breaker-words.ts';
import { movedText } from '../reconcile/tenant/tenant.ts';
import { notComparedText } from '../reconcile/text/not-compared.ts';
import { EXCEPTION_WORDS, withoutGuardHolds } from '../reconcile/text/exception-words.ts';
import {
  approvalEndReason,
  approvalReason,
  firstApprovalReasons,
  rejectionReasons,
} from './decision-reasons.ts';
import { isDoneByHand, leftReason, partlyDone } from './done-by-hand.ts';
import { deletionReason, guardReasons, noLongerWanted, waitingReason } from './guard-reasons.ts';
import {
  failingReason,
  leftAloneReason,
  leftOutByPolicyReason,
  membershipReason,
  nestedReason,
  unknownMembersReason,
} from './membership-reasons.ts';
import { pendingReasons } from './pending-reasons.ts';
import { platformReasons } from './platform-reasons.ts';
import { capital, someOf } from '../support/sentence-parts.ts';
import { valueReasons } from './value-reasons.ts';

/** Returns the sentences that `summary`, the text of summary.ts, does not contain already. */
export function reasonsOf(facts: ExplainedFacts, summary: string): string[] {
  // Somebody made the held and rejected changes at the platform: the next run ends exception and condition without a decision.
  const isDone = isDoneByHand(facts);
  const sentences: Sentence[] = [
    ...(isDone ? [] : [exceptionReason(facts), conditionReason(facts, summary)]),
    ...targetReasons(facts, summary),
    ...(isDone ? [] : decisionReasons(facts)),
    ...pendingReasons(facts, summary),
    failingReason(facts, summary),
    // The numbers of the guard follow the advice, because a short page leaves out the last reasons.
    ...(isDone || isToldByCondition(facts) ? [] : guardReasons(facts)),
    approvalEndReason(facts),
    membershipReason(facts),
    noLongerWanted(facts),
    partlyDone(facts),
    leftReason(facts),
    notComparedReason(facts),
    ...valueReasons(facts, summary),
    ...platformReasons(facts),
    leftAloneReason(facts),
    leftOutByPolicyReason(facts),
    suspectedReason(facts),
    unknownMembersReason(facts),
    nestedReason(facts),
    policyReason(facts),
    // The sentence about the deletion of the account tells already when the next sync comes.
    accountDeletionReason(facts) ?? lookAgainReason(facts),
  ];
  return sentences.filter((each): each is string => Boolean(each));
}

/** A sentence; '', undefined or false: it does not apply. */
type Sentence = string | undefined | false;

/** Returns the sentences about what stops or delays all changes at the target. */
const targetReasons = (facts: ExplainedFacts, summary: string): Sentence[] => [
  holdReason(facts),
  movedReason(facts, summary),
  breakerReason(facts, summary),
  pauseReason(facts, summary),
];

/** Returns the sentences about decisions of operators that were made, or are to be made. */
const decisionReasons = (facts: ExplainedFacts): Sentence[] => [
  approvalReason(facts),
  ...firstApprovalReasons(facts),
  ...rejectionReasons(facts),
  deletionReason(facts),
  waitingReason(facts),
];

const suspectedReason = ({ suspectedDrift }: ExplainedFacts): Sentence =>
  suspectedDrift.length > 0 && `A comparison saw these to differ at the platform: ${someOf(suspectedDrift)}.`;

/** Returns a sentence about the policy of the target: each policy but `sync` leaves differences. */
const policyReason = ({ policy }: ExplainedFacts): Sentence =>
  policy.policy !== 'sync' && `The policy of this target is ${policy.policy}.`;

/** Returns how many groups of a person, or removals of members of a group, were not compared; undefined: all were. */
function notComparedReason({ kind, platform }: ExplainedFacts): string | undefined {
  return platform?.notCompared ? `${notComparedText(kind, platform.notCompared)}.` : undefined;
}

/** Reason of an exception → the write that no run makes. With a held or rejected change, other changes may be written. */
const NO_RUN: Record<ExceptionReason, string> = {
  Rejected:
    'no run writes the rejected change before the rejection is withdrawn or the source takes the change back',
  Held: 'no run writes the held change before a person decides or the guard judges it anew',
  LastAdministrator: 'no run writes the held change before a person decides or the guard judges it anew',
  Dropped: 'no run repeats the refused change',
  NotAdopted: 'no run changes it',
  Protected: 'no run changes it',
  OnHold: 'no run changes it',
};

function exceptionReason(facts: ExplainedFacts): string | undefined {
  const { exception, hold, lookAgainAt } = facts;
  if (!exception) return undefined;
  const isStillWanted = noLongerWanted(facts) === undefined;
  // No person can decide an expired approval.
  const isExpired = facts.approvalExpired !== null && isOfHeldChange(facts);
  // The next sync of a resource with a held change is planned for the time at which the approval expires. On hold there is no sync.
  const at = isOfHeldChange(facts) && lookAgainAt && !hold ? ` at ${lookAgainAt}` : '';
  return `It is an exception since ${exception.since}, ${EXCEPTION_WORDS[exception.reason]}${isStillWanted && !isExpired ? `: ${NO_RUN[exception.reason]}${at}` : ''}.`;
}

/** Returns whether the guard holds a change of the resource, as its exception says. */
const isOfHeldChange = ({ exception }: ExplainedFacts): boolean =>
  exception?.reason === 'Held' || exception?.reason === 'LastAdministrator';

/** Returns the condition with its advice, without the message if the summary has it; '' if nothing is left to say. */
function conditionReason(facts: ExplainedFacts, summary: string): string {
  const { condition } = facts;
  if (!condition) return '';
  const advice = adviceOf(facts);
  if (summary.includes(condition.message)) return advice && `${condition.reason}. ${advice}`;
  return `${condition.reason}: ${withoutGuardHolds(condition.message.replace(/\.$/, ''))}. ${advice}`.trim();
}

/**
 * Returns the advice of the condition. A dropped dead letter gets its own advice, because it cannot be retried as a dead
 * letter. A held change gets none, because the sentence about the approval says what to do.
 */
function adviceOf({ condition, exception, ref, approval }: ExplainedFacts): string {
  if (exception?.reason === 'Dropped') return `Correct the cause, then scim-bridge sync ${ref}.`;
  return condition?.reason === 'Held' && approval !== null ? '' : (condition?.advice ?? '');
}

function holdReason({ hold, target }: ExplainedFacts): string | undefined {
  if (!hold) return undefined;
  return `On hold since ${hold.since} by ${hold.by}${hold.note ? ` (${hold.note})` : ''}: ${holdAdvice(target, hold)}.`;
}

/**
 * Returns a sentence about a new address at which no account was recognised yet; '' if there is none, or the summary or the hold of
 * a reconcile says it.
 */
function movedReason({ hasMoved, hold, target }: ExplainedFacts, summary: string): string {
  const words = movedText(target);
  return unrecognisedBy(hold, hasMoved) === 'address' && !summary.includes(words) ? `${capital(words)}.` : '';
}

/** Returns a sentence about failing calls or a refused key; '' if there are none, or the summary says it. */
function breakerReason({ target, breaker }: ExplainedFacts, summary: string): string {
  if (!breaker) return '';
  const { open, since, ...failure } = breaker;
  const refusal = `${target} ${failureSinceWords(failure, since)}: ${newKeyAdvice(target, failure)}`;
  if (!open) return summary.includes(refusal) ? '' : `The target ${refusal}.`;
  return `Calls to the target have failed in a row since ${since} (the last: ${answerWords(failure.status)}): only probes go out until one succeeds.`;
}

/** Returns a sentence about a pause during which the platform could not be read; '' without one, or if the summary says it. */
function pauseReason({ pause, breaker, platform }: ExplainedFacts, summary: string): string {
  if (!pause || breaker || platform?.state !== 'unread') return '';
  const words = pauseWords(pause);
  return summary.includes(words) ? '' : `${capital(words)}.`;
}

/** Returns whether the condition tells all that the guard judged: the changes are of one kind and state, which it names. */
const isToldByCondition = ({ condition, guard }: ExplainedFacts): boolean =>
  condition !== null && new Set(guard.map(({ kind, state }) => `${state} ${kind}`)).size <= 1;

/** Returns a sentence about the next sync without a change; undefined on hold, and for a rejection, which no such sync ends. */
function lookAgainReason({ lookAgainAt, condition, exception, hold }: ExplainedFacts): string | undefined {
  if (!lookAgainAt || hold || condition?.reason === 'Rejected' || exception?.reason === 'Rejected')
    return undefined;
  return `It is looked at again by itself at ${lookAgainAt}.`;
}
