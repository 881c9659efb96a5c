// Converts the facts about a resource to a verdict. Pure; the first rule that matches gives the verdict. Dead letters, protection
// and the guard come first. Then a marked resource is judged by what its sync waits for (`judgePending`), and one without a mark by
// its condition, its differences and its memberships (`judgeAtRest`).
import type { ExplainedFacts, Explanation, ExplanationVerdict, MembershipState } from './explanation.ts';
import { doneByHandSummary, isDoneByHand } from './done-by-hand.ts';
import { needsPerson } from './membership-reasons.ts';
import { isBehindHeld, noWorkerOf, stoppingBreaker } from './pending-reasons.ts';
import { reasonsOf } from './reasons.ts';
import { isListedAsProtected, summaryOf } from './summary.ts';
import { isSettledValue } from './value-reasons.ts';

/** Returns the verdict, its summary in one sentence, and the reasons that the summary does not contain. */
export function toVerdict(facts: ExplainedFacts): Pick<Explanation, 'verdict' | 'summary' | 'reasons'> {
  const verdict = judge(facts);
  const isDone = verdict === 'asDesired' && isDoneByHand(facts);
  const summary = isDone ? doneByHandSummary(facts) : summaryOf(verdict, facts);
  return { verdict, summary, reasons: reasonsOf(facts, summary) };
}

/** Returns the verdict of the first rule that matches. */
function judge(facts: ExplainedFacts): ExplanationVerdict {
  const { condition, deadLetterSince, mark } = facts;
  // No sync tries a dead letter again before a person or a new change asks for the sync.
  if (deadLetterSince !== null) return 'needsPerson';
  // A protected account is never written, so its marks and differences mean nothing.
  if (condition?.reason === 'Protected' || isListedAsProtected(facts)) return 'leftAlone';
  // The platform already has the changes that wait for a decision, so nothing is held any more.
  if (isDoneByHand(facts)) return facts.platform?.state === 'differs' ? 'differs' : 'asDesired';
  if (isHeldByGuard(facts)) return 'held';
  return mark ? judgePending(facts, mark) : judgeAtRest(facts);
}

/** Returns the verdict on a resource with a mark: a change of it is not applied yet. */
function judgePending(facts: ExplainedFacts, mark: NonNullable<ExplainedFacts['mark']>): ExplanationVerdict {
  // A mark whose request is `rejection:<approval id>` comes from a decision: its sync only notes the rejection.
  if (mark.request.startsWith('rejection:') && facts.condition?.reason === 'Rejected') return 'leftAlone';
  if (isMadeOnHold(facts)) return 'asDesired';
  if (facts.hold && isChangedByOthersAlone(facts)) return 'differs';
  if (isTargetStopped(facts) || stoppingBreaker(facts) !== null) return 'stopped';
  // The marked change waits for the removal from a refused group, which no sync writes before somebody acts.
  return isBehindHeld(mark) && leavesRefusedGroup(facts) ? 'needsPerson' : 'onItsWay';
}

/** Returns the verdict on a resource without a mark: no sync of it is due. */
function judgeAtRest(facts: ExplainedFacts): ExplanationVerdict {
  const { condition, link, stored, inScope } = facts;
  // A rejection covers one change only: the next reconcile writes the other differences at the platform.
  const hasOtherDifferences = condition?.reason === 'Rejected' && facts.platform?.state === 'differs';
  // A condition without a mark and without a dead letter stays: a person rejected the change or dropped the dead letter.
  if (condition && !hasOtherDifferences) return 'leftAlone';
  // Without a mark, nothing writes a difference at the platform before the next reconcile.
  if (facts.platform?.state === 'differs') return 'differs';
  // Deleted at the source, and nothing is left to be written.
  if (!stored) return 'gone';
  if (inScope === false) return 'notForTarget';
  const hasUnwritten = facts.values.some(({ state }) => !isSettledValue(state));
  if (link.platformId === null || hasUnwritten) return isKeptByPolicy(facts) ? 'leftAlone' : 'differs';
  return judgeMemberships(facts);
}

/** Returns the verdict on a resource of which only memberships can be unwritten. The syncs of the groups write the memberships. */
function judgeMemberships(facts: ExplainedFacts): ExplanationVerdict {
  const waiting = facts.memberships.filter(({ state }) => state === 'toAdd' || state === 'toRemove');
  // A difference that the policy leaves may give access against the source, so the resource is not as desired.
  const isLeftByPolicy =
    (facts.platform?.leftDifferences ?? 0) > 0 ||
    facts.memberships.some((each) => each.condition === 'LeftByPolicy');
  if (waiting.length === 0) return isLeftByPolicy ? 'leftAlone' : 'asDesired';
  const isAnyUnstopped = waiting.some((each) => each.condition === undefined);
  if (isAnyUnstopped && (isTargetStopped(facts) || facts.breaker !== null)) return 'stopped';
  // The sync of a group writes its memberships, so the membership of a member without a condition is on its way.
  if (isAnyUnstopped && facts.kind === 'Group') return 'onItsWay';
  return judgeByOthers(waiting);
}

/** Returns the verdict on a resource whose only differences are memberships, by the conditions of its groups or members. */
function judgeByOthers(waiting: MembershipState[]): ExplanationVerdict {
  const stopped = waiting.flatMap(({ condition }) => (condition === undefined ? [] : [condition]));
  if (stopped.includes('Held')) return 'held';
  if (waiting.some(needsPerson)) return 'needsPerson';
  return stopped.length === waiting.length ? 'leftAlone' : 'onItsWay';
}

/** Returns whether the guard holds a change of the resource, or a removal for which a marked change waits. */
const isHeldByGuard = (facts: ExplainedFacts): boolean =>
  facts.guard.some(({ state }) => state === 'held' || state === 'expired') ||
  facts.condition?.reason === 'Held' ||
  (facts.mark !== null && leavesHeldGroup(facts));

/** Returns whether nothing is written to the target: it is on hold or has a new address, or no worker runs. */
const isTargetStopped = (facts: ExplainedFacts): boolean =>
  facts.hold !== null || noWorkerOf(facts) !== undefined || facts.hasMoved;

/** Returns whether somebody made the whole pending change at the platform by hand while the target is on hold. */
const isMadeOnHold = (facts: ExplainedFacts): boolean =>
  facts.hold !== null &&
  facts.condition === null &&
  facts.platform?.state === 'equal' &&
  facts.platform.leftDifferences === 0 &&
  hasNoPendingMembership(facts);

/**
 * Returns whether the pending sync writes nothing, although the platform differs: all desired values were written before, and no
 * reconcile has noted the later changes of others (`suspectedDrift`).
 */
const isChangedByOthersAlone = (facts: ExplainedFacts): boolean =>
  facts.condition === null &&
  facts.inScope === true &&
  facts.platform?.state === 'differs' &&
  facts.suspectedDrift.length === 0 &&
  facts.values.every(({ state }) => isSettledValue(state)) &&
  hasNoPendingMembership(facts);

const hasNoPendingMembership = ({ memberships }: ExplainedFacts): boolean =>
  memberships.every(({ state }) => state !== 'toAdd' && state !== 'toRemove');

/** Returns whether the guard holds a removal from a group; the person's other changes wait for it. */
const leavesHeldGroup = ({ kind, memberships }: ExplainedFacts): boolean =>
  kind === 'User' && memberships.some(({ state, condition }) => state === 'toRemove' && condition === 'Held');

/** Returns whether a group that the person leaves was refused; the person's other changes wait for it. */
const leavesRefusedGroup = ({ kind, memberships }: ExplainedFacts): boolean =>
  kind === 'User' && memberships.some((each) => each.state === 'toRemove' && needsPerson(each));

/**
 * Returns whether the policy leaves every difference of the values on purpose: `create-only` leaves all, `upsert-only` only an
 * account that the source wants closed.
 */
function isKeptByPolicy({ policy, link, values }: ExplainedFacts): boolean {
  // Every policy creates a missing account.
  if (link.platformId === null) return false;
  if (policy.policy === 'create-only') return true;
  const differing = values.filter(({ state }) => !isSettledValue(state));
  return (
    policy.policy === 'upsert-only' &&
    differing.every(({ name, desired }) => name === 'active' && desired === false)
  );
}
