// Converts the facts about a resource to a status and sentences for operators. Pure; the first rule that matches gives the status.
import type { ExplainedFacts, Explanation, ExplanationVerdict, MembershipState } from './explanation.ts';
import { isHeldByFormerSettings } from '../directory/outbox/condition-text.ts';
import { breakerWords, failureSinceWords, newKeyAdvice, pauseWords } from '../reconcile/breaker-words.ts';
import { DESTRUCTIVE } from '../reconcile/entry.ts';
import { counted } from '../support/counted.ts';
import { LISTED_AS_PROTECTED } from '../sync/target.ts';
import { doneByHandSummary, isDoneByHand } from './guard-reasons.ts';
import { failingMembership, sideText, TRIED_AGAIN } from './membership-reasons.ts';
import { isBehindHeld, noWorkerOf, redisRefusalOf } from './pending-reasons.ts';
import { reasonsOf } from './reasons.ts';
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
  const { condition, deadLetterSince, mark, hold, breaker, guard, stored, inScope, link } = facts;
  const noWorker = noWorkerOf(facts);
  // No sync tries a dead letter again before a person or a new change asks for the sync.
  if (deadLetterSince !== null) return 'needsPerson';
  // A protected account is never written, so its marks and differences mean nothing.
  if (condition?.reason === 'Protected' || isListedAsProtected(facts)) return 'leftAlone';
  // The platform already has the changes that wait for a decision, so nothing is held any more.
  if (isDoneByHand(facts)) return facts.platform?.state === 'differs' ? 'differs' : 'asDesired';
  const isHeld = guard.some(({ state }) => state === 'held') || condition?.reason === 'Held';
  if (isHeld || (mark && leavesHeldGroup(facts))) return 'held';
  // A mark whose request is `rejection:<approval id>` comes from a decision: its sync only notes the rejection.
  if (mark?.request.startsWith('rejection:') && condition?.reason === 'Rejected') return 'leftAlone';
  if (mark && isMadeOnHold(facts)) return 'asDesired';
  if (mark && hold && isChangedByOthersAlone(facts)) return 'differs';
  // A pending change does not move while the target is on hold or fails, or no worker runs.
  if (mark && (hold ?? breaker ?? noWorker)) return 'stopped';
  // Nothing removes the person from a refused group, for which other changes of the person wait, before somebody acts.
  if (mark) return isBehindHeld(mark) && leavesRefusedGroup(facts) ? 'needsPerson' : 'onItsWay';
  // A rejection is about one change; a run writes the other differences.
  const hasOthers = condition?.reason === 'Rejected' && facts.platform?.state === 'differs';
  // Without mark and dead letter no sync ends a condition: a person rejected the change or dropped the dead letter.
  if (condition && !hasOthers) return 'leftAlone';
  // A difference at the platform without a pending change: nothing writes it before the next run.
  if (facts.platform?.state === 'differs') return 'differs';
  // Deleted at the source, and nothing is left to be written.
  if (!stored) return 'gone';
  if (inScope === false) return 'notForTarget';
  const hasUnwritten = facts.values.some(({ state }) => !isSettledValue(state));
  if (link.platformId === null || hasUnwritten) {
    return isKeptByPolicy(facts) ? 'leftAlone' : 'differs';
  }
  const waiting = facts.memberships.filter(({ state }) => state === 'toAdd' || state === 'toRemove');
  // A difference that the policy leaves may give access against the source, so the resource is not as desired.
  const isLeft =
    (facts.platform?.leftDifferences ?? 0) > 0 ||
    facts.memberships.some((each) => each.condition === 'LeftByPolicy');
  if (waiting.length === 0) return isLeft ? 'leftAlone' : 'asDesired';
  // Memberships that no condition stops are written by the syncs of groups.
  const isStopped = waiting.some((each) => each.condition === undefined) && (hold ?? breaker ?? noWorker);
  if (isStopped) return 'stopped';
  // A group's own sync writes its members, so one that no condition stops is on its way.
  if (facts.kind === 'Group' && waiting.some(({ condition: each }) => each === undefined)) return 'onItsWay';
  return judgeByOthers(waiting);
}

/** Returns whether somebody made the pending change at the platform while the target is on hold, so that nothing of it is left. */
const isMadeOnHold = (facts: ExplainedFacts): boolean =>
  facts.hold !== null &&
  facts.condition === null &&
  facts.platform?.state === 'equal' &&
  facts.platform.leftDifferences === 0 &&
  hasNoPendingMembership(facts);

/** Returns whether the pending sync writes nothing: all was written before, and no reconcile has noted what others changed since. */
const isChangedByOthersAlone = (facts: ExplainedFacts): boolean =>
  facts.condition === null &&
  facts.inScope === true &&
  facts.platform?.state === 'differs' &&
  facts.suspectedDrift.length === 0 &&
  facts.values.every(({ state }) => isSettledValue(state)) &&
  hasNoPendingMembership(facts);

const hasNoPendingMembership = ({ memberships }: ExplainedFacts): boolean =>
  memberships.every(({ state }) => state !== 'toAdd' && state !== 'toRemove');

/** Returns whether the settings protect the user. After a change of settings, the condition `Protected` follows with a sync. */
const isListedAsProtected = ({ kind, policy }: ExplainedFacts): boolean =>
  kind === 'User' && policy.protected;

/** Returns whether the guard holds a removal from a group, for which the person's other changes wait. */
const leavesHeldGroup = ({ kind, memberships }: ExplainedFacts): boolean =>
  kind === 'User' && memberships.some(({ state, condition }) => state === 'toRemove' && condition === 'Held');

/** Returns whether a group that the person leaves was refused, for which the person's other changes wait. */
const leavesRefusedGroup = ({ kind, memberships }: ExplainedFacts): boolean =>
  kind === 'User' && memberships.some((each) => each.state === 'toRemove' && needsPerson(each));

/** Returns the verdict on a resource whose only differences are memberships, by the conditions of its groups or members. */
function judgeByOthers(waiting: MembershipState[]): ExplanationVerdict {
  const stopped = waiting.flatMap(({ condition }) => (condition === undefined ? [] : [condition]));
  if (stopped.includes('Held')) return 'held';
  if (waiting.some(needsPerson)) return 'needsPerson';
  return stopped.length === waiting.length ? 'leftAlone' : 'onItsWay';
}

/** Reasons of conditions that an operator or the settings caused on purpose. */
const LEFT_ALONE = new Set(['Rejected', 'Protected', 'OutOfScope', 'LeftByPolicy']);

/** Returns whether the platform or a conflict stops the other resource of a membership, so that a person has to look at it. */
export const needsPerson = ({ condition }: MembershipState): boolean =>
  condition !== undefined && condition !== 'Held' && !LEFT_ALONE.has(condition);

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

/** Returns why the platform was not read. The bridge counts each call in Redis, so it makes none while Redis takes no writes. */
function unreadText({ target, fleet }: ExplainedFacts): string {
  return redisRefusalOf(fleet)
    ? `${target} was not read, because Redis takes no writes`
    : `${target} could not be read now`;
}

/** Returns words that limit the summary when not all groups of a person were compared; '' when all were. */
const comparedText = ({ platform }: ExplainedFacts): string =>
  (platform?.notCompared ?? 0) > 0 ? ' as far as it was compared' : '';

/** Returns the summary of a verdict in one sentence. */
function summaryOf(verdict: ExplanationVerdict, facts: ExplainedFacts): string {
  const { name, target, condition, link, kind } = facts;
  const what = kind === 'User' ? 'account' : 'group';
  switch (verdict) {
    case 'asDesired':
      return facts.platform?.state === 'unread'
        ? `The state of ${name} is not known: ${unreadText(facts)}. By the last answers it was as desired${activityOf(facts)}.`
        : `${name} is at ${target} as desired${comparedText(facts)}${activityOf(facts)}.`;
    case 'onItsWay':
      return onItsWaySummary(facts);
    case 'held':
      if (condition?.reason === 'LastAdministrator')
        return `The guard holds the deactivation of ${name} at ${target}: no other active administrator would be left there, as of its last sync.`;
      return `The guard holds a part of what shall happen to ${name} at ${target}: ${
        facts.approvalExpired === null
          ? 'a person has to approve or reject it'
          : `the approval has expired, and the guard judges it anew${facts.hold ? ` after the end of the hold of ${target}` : ''}`
      }${
        isHeldByFormerSettings(condition?.message ?? '')
          ? ', unless the present settings do not want it any more'
          : ''
      }.`;
    case 'stopped':
      return `A change of ${name} waits because ${
        facts.hold
          ? `all writes to ${target} are on hold`
          : facts.breaker
            ? obstacleText(target, facts.breaker)
            : redisRefusalOf(facts.fleet)
              ? 'Redis takes no writes'
              : 'no worker runs: start one'
      }.`;
    case 'needsPerson':
      // With a mark, the condition is of a sync before the last change.
      return `${name} is not at ${target} as desired and needs a person: ${(facts.mark ? undefined : condition?.message) ?? membershipCause(facts)}.`;
    case 'leftAlone':
      return `${name} is left alone at ${target}: ${
        condition?.reason !== 'Protected' && isListedAsProtected(facts)
          ? LISTED_AS_PROTECTED
          : (condition?.message ?? membershipCause(facts))
      }.`;
    case 'notForTarget':
      return `${name} is not meant for ${target}: ${
        kind === 'User' ? 'outside users.scope' : 'left out by groups.include or groups.exclude'
      }${link.platformId === null ? '' : `; the ${what} ${facts.platform?.accountGone ? 'that it had there' : 'that exists there'} is ${kind === 'User' ? closedText(facts) : 'kept as it is until the source deletes the group'}`}.`;
    case 'differs':
      if (facts.platform?.state === 'differs')
        return `${name} is not at ${target} as desired, read just now: ${bringsIt(facts)}.`;
      return link.platformId === null
        ? `${name} has no ${what} at ${target} and nothing is on its way: ${bringsIt(facts)}.`
        : `${name} differs at ${target} from what the settings now ask for: ${bringsIt(facts)}.`;
    case 'gone':
      return `${name} was deleted at the source${facts.deletedAt ? ` on ${facts.deletedAt}` : ''}; ${
        link.platformId === null
          ? `nothing of it is managed at ${target}`
          : condition
            ? `the ${what} at ${target} stays: see reasons`
            : `the ${what} at ${target} is ${closedText(facts)}`
      }.`;
  }
}

/** Returns the state of the account or group of a resource that is not wanted at the target, as words behind "is". */
function closedText({ kind, link, platform, policy }: ExplainedFacts): string {
  if (platform?.accountGone) return 'gone: the platform does not have it any more, and nothing is to be done';
  if (kind === 'User' && link.active === false) return 'closed';
  if (policy.policy !== 'sync') return `left as it is by the policy ${policy.policy}`;
  return kind === 'User' ? 'not closed by the bridge' : 'closed';
}

/** Returns why calls to the target fail, and when the change is applied: after a new key (status 401), or when calls succeed. */
const obstacleText = (
  target: string,
  { since, ...failure }: NonNullable<ExplainedFacts['breaker']>,
): string =>
  failure.status === 401
    ? `${target} ${failureSinceWords(failure, since)}: ${newKeyAdvice(target, failure)}`
    : `${target} ${breakerWords(failure)}; it is applied as soon as calls succeed`;

/**
 * Returns the summary of a pending resource. The time comes from the mark of the resource, or from the condition of a group
 * or member whose sync fails.
 */
function onItsWaySummary({
  name,
  target,
  mark,
  pause,
  kind,
  memberships,
  condition,
}: ExplainedFacts): string {
  const change = `A change of ${name} is on its way to ${target}`;
  // The platform ignores the change, or its calls fail again and again. The advice of the condition is among the reasons.
  if (mark && condition?.reason === 'NotApplied')
    return `A change of ${name}, accepted ${mark.since}, fails since ${condition.since} and does not arrive at ${target}: ${condition.message}.`;
  // Values of a person wait until the person is removed from a group, which may fail.
  const failing = mark && (kind === 'Group' || pause) ? undefined : failingMembership({ memberships });
  if (mark && !failing)
    return `${change}, accepted ${mark.since}; ${pause ? pauseWords(pause) : 'nobody has to do anything'}.`;
  if (!failing) return `${change}; nobody has to do anything.`;
  return `${change} and has failed since ${failing.triedSince ?? ''}: ${sideText(kind, failing)}. ${TRIED_AGAIN}`;
}

/** Returns which run writes the differences of a resource, or why none does, as words behind a colon. */
function bringsIt(facts: ExplainedFacts): string {
  const { condition, hold, kind, target, platform, policy, ref, values } = facts;
  const { differences = [], toBeHeld = 0 } = platform ?? {};
  const conflicts = differences.filter(({ action }) => action === 'conflict').length;
  if (conflicts > 0 && conflicts === differences.length)
    return 'no run brings it before a person has acted, see reasons';
  if (platform?.accountGone && policy.policy === 'create-only')
    return 'the policy create-only makes no account anew';
  if (hold) return `nothing is written there while ${target} is on hold`;
  // With `reconcile.onDrift: report` the schedule writes nothing, so the words leave open which run it is.
  const run = `the next reconcile that repairs, or scim-bridge sync ${ref}`;
  const except = exceptText(facts);
  // The guard would hold some of the differences of a run, or all of them. The sync of a person asks the guard for each group
  // alone, so a part of them may fit into its limit.
  const asking = kind === 'User' && toBeHeld > 1 ? 'the next reconcile that repairs' : `${run},`;
  if (toBeHeld > 0 && toBeHeld === differences.length)
    return `${asking} asks the guard, which will hold it: a person has to approve it then`;
  if (toBeHeld > 0) return `${asking} brings it${except}`;
  const differing = values.filter(({ state }) => !isSettledValue(state));
  const isAllUnmappable = differing.length > 0 && differing.every(({ state }) => state === 'unmappable');
  if (isAllUnmappable && differences.length === 0 && condition?.reason !== 'Rejected')
    return 'no run brings it before the rule or the value is corrected';
  // A reconcile asks the guard for all changes of the target together, which may exceed a limit that these alone keep.
  const isAsked = differences.some(({ action }) => DESTRUCTIVE.has(action));
  const unlessHeld = isAsked ? ', unless the guard holds it with other changes of the run' : '';
  return `${run}, brings it${except}${unlessHeld}`;
}

/** Returns whether a difference at the platform is one that no run writes before a person has acted. */
const hasConflict = (platform: ExplainedFacts['platform']): boolean =>
  platform?.differences.some(({ action }) => action === 'conflict') === true;

/** Returns `, except …` with the kinds of differences that no reconcile writes; '': a reconcile writes all of them. */
function exceptText({ condition, memberships, platform, values }: ExplainedFacts): string {
  const waiting = memberships.filter(({ state }) => state === 'toAdd' || state === 'toRemove');
  const has = (reason: string): boolean => waiting.some((each) => each.condition === reason);
  const parts = [
    ...((platform?.toBeHeld ?? 0) > 0 ? ['what the guard will hold'] : []),
    ...(has('Held') ? ['what the guard holds'] : []),
    ...(condition?.reason === 'Rejected' || has('Rejected') ? ['what a person rejected'] : []),
    ...(waiting.some(needsPerson) || hasConflict(platform) ? ['what needs a person first'] : []),
    ...(values.some(({ state }) => state === 'unmappable') ? ['what cannot be mapped'] : []),
  ];
  return parts.length === 0 ? '' : `, except ${parts.join(' and ')}`;
}

/** Returns words about a membership with a condition, first one that needs a person; without one, words about the policy. */
function membershipCause({ memberships, kind, policy }: ExplainedFacts): string {
  const first = memberships.find(needsPerson) ?? memberships.find(({ condition }) => condition !== undefined);
  if (!first) return `the policy is ${policy.policy}`;
  return sideText(kind, first);
}

/** Returns the end of the summary of a resource as desired: its number of members, or `active` and its number of groups. */
function activityOf({ kind, stored, memberships, members }: ExplainedFacts): string {
  if (kind === 'Group')
    return `, with ${counted((members?.desired ?? 0) - (members?.leftAlone ?? 0), 'member')}`;
  const groups = memberships.filter(({ state }) => state === 'applied').length;
  const active = stored?.active === false ? 'inactive, as the identity provider wants it' : 'active';
  return `: ${active}, in ${counted(groups, 'group')}`;
}
