// Converts a verdict and the facts behind it to the summary, one sentence for operators. Pure. The other functions return parts of
// the sentence, in the order in which `summaryOf` calls them.
import type { ExplainedFacts, ExplanationVerdict } from './explanation.ts';
import { isHeldByFormerSettings } from '../directory/outbox/condition-text.ts';
import { unrecognisedBy } from '../directory/outbox/recognition.ts';
import { breakerWords, failureSinceWords, newKeyAdvice, pauseWords } from '../reconcile/breaker-words.ts';
import { movedText, unreadText } from '../reconcile/tenant/tenant.ts';
import { redisRefusalOf, workerMissing } from '../ops/status/fleet.ts';
import { counted } from '../support/counted.ts';
import { LISTED_AS_PROTECTED } from '../sync/target.ts';
import { bringsIt } from './bringing-run.ts';
import { failingMembership, needsPerson, sideText, TRIED_AGAIN } from './membership-reasons.ts';
import { nameText, noWorkerOf } from './pending-reasons.ts';

/** Returns the summary of a verdict in one sentence. */
export function summaryOf(verdict: ExplanationVerdict, facts: ExplainedFacts): string {
  const { name, target, condition, link, kind } = facts;
  const what = kind === 'User' ? 'account' : 'group';
  switch (verdict) {
    case 'asDesired':
      return facts.platform?.state === 'unread'
        ? `The state of ${name} is not known: ${whyUnread(facts)}. By the last answers it was as desired${activityOf(facts)}.`
        : `${name} is at ${target} as desired${comparedText(facts)}${activityOf(facts)}.`;
    case 'onItsWay':
      return onItsWaySummary(facts);
    case 'held':
      return heldSummary(facts);
    case 'stopped':
      return `A change of ${name} waits because ${stopCause(facts)}.`;
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
      }${link.platformId === null ? '' : `; ${linkedStateText(facts)}`}.`;
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

/** Returns why the platform was not read. The bridge counts each call in Redis, so it makes none while Redis takes no writes. */
function whyUnread({ hold, hasMoved, target, fleet }: ExplainedFacts): string {
  const unrecognised = unrecognisedBy(hold, hasMoved);
  if (unrecognised) return unreadText(target, unrecognised);
  return redisRefusalOf(fleet)
    ? `${target} was not read, because Redis takes no writes`
    : `${target} could not be read now`;
}

/** Returns words that limit the summary when not all groups of a person were compared; '' when all were. */
const comparedText = ({ platform }: ExplainedFacts): string =>
  (platform?.notCompared ?? 0) > 0 ? ' as far as it was compared' : '';

/** Returns the end of the summary of a resource as desired: its number of members, or `active` and its number of groups. */
function activityOf({ kind, stored, memberships, members }: ExplainedFacts): string {
  if (kind === 'Group')
    return `, with ${counted((members?.desired ?? 0) - (members?.leftAlone ?? 0), 'member')}`;
  const groups = memberships.filter(({ state }) => state === 'applied').length;
  const active = stored?.active === false ? 'inactive, as the identity provider wants it' : 'active';
  return `: ${active}, in ${counted(groups, 'group')}`;
}

/**
 * Returns the summary of a pending resource. The time comes from the mark of the resource, or from the condition of a group
 * or member whose sync fails.
 */
function onItsWaySummary(facts: ExplainedFacts): string {
  const { name, target, mark, pause, kind, memberships } = facts;
  const stuck = mark && stuckText(facts);
  if (stuck) return `A change of ${name}, accepted ${mark.since}, ${stuck}.`;
  const change = `A change of ${name} is on its way to ${target}`;
  // Values of a person wait until the person is removed from a group, which may fail.
  const failing = mark && (kind === 'Group' || pause) ? undefined : failingMembership({ memberships });
  if (failing)
    return `${change} and has failed since ${failing.triedSince ?? ''}: ${sideText(kind, failing)}. ${TRIED_AGAIN}`;
  return `${change}${mark ? `, accepted ${mark.since}` : ''}; ${pause ? pauseWords(pause) : 'nobody has to do anything'}.`;
}

/** Returns why the attempts to write a marked change do not succeed; undefined: nothing of that kind is known. */
function stuckText(facts: ExplainedFacts): string | undefined {
  const { breaker, condition, link, target } = facts;
  // The platform ignores the change, or the calls for it fail again and again. The advice of the condition is among the reasons.
  if (condition?.reason === 'NotApplied')
    return `fails since ${condition.since} and does not arrive at ${target}: ${condition.message}`;
  if (condition?.reason === 'NameTaken')
    return `waits since ${condition.since} and does not arrive at ${target}: ${condition.message}`;
  // A resource on its way has a `breaker` only if the refused key stops other changes, not this one; the reasons name the key.
  if (!condition && breaker !== null && link.waitsForName)
    return `waits for its name. ${nameText(facts)}. It is tried again`;
  return undefined;
}

/** Returns the summary of a resource of which the guard holds a change. */
function heldSummary(facts: ExplainedFacts): string {
  const { approvalExpired, condition, name, target } = facts;
  if (condition?.reason === 'LastAdministrator' && approvalExpired === null)
    return `The guard holds the deactivation of ${name} at ${target}: no other active administrator would be left there, as of its last sync.`;
  const next =
    approvalExpired === null
      ? 'a person has to approve or reject it'
      : `the approval has expired, and the guard judges it anew ${judgedWhen(facts)}`;
  const unless = isHeldByFormerSettings(condition?.message ?? '')
    ? ', unless the present settings do not want it any more'
    : '';
  return `The guard holds a part of what shall happen to ${name} at ${target}: ${next}${unless}.`;
}

/** Returns when the guard judges a change of an expired approval anew, and what its sync waits for. */
function judgedWhen({ target, hold, breaker, fleet }: ExplainedFacts): string {
  if (hold) return `after the end of the hold of ${target}`;
  const cause = workerMissing(fleet) ? 'no worker runs' : breaker && obstacleText(target, breaker);
  return `with its next sync${cause ? `, which waits because ${cause}` : ''}`;
}

/** Returns the first cause at the target for which the change waits. */
function stopCause(facts: ExplainedFacts): string {
  const { hold, target, fleet, breaker } = facts;
  if (hold) return `all writes to ${target} are on hold`;
  if (redisRefusalOf(fleet)) return 'Redis takes no writes';
  if (noWorkerOf(facts)) return 'no worker runs: start one';
  return breaker ? obstacleText(target, breaker) : movedText(target);
}

/** Returns why calls to the target fail, and when the change is applied: after a new key (status 401), or when calls succeed. */
const obstacleText = (
  target: string,
  { since, ...failure }: NonNullable<ExplainedFacts['breaker']>,
): string =>
  failure.status === 401
    ? `${target} ${failureSinceWords(failure, since)}: ${newKeyAdvice(target, failure)}`
    : `${target} ${breakerWords(failure)}; it is applied as soon as calls succeed`;

/** Returns words about a membership with a condition, preferably one that needs a person; without such a membership the policy. */
function membershipCause({ memberships, kind, policy }: ExplainedFacts): string {
  const first = memberships.find(needsPerson) ?? memberships.find(({ condition }) => condition !== undefined);
  if (!first) return `the policy is ${policy.policy}`;
  return sideText(kind, first);
}

/** Returns whether the settings protect the user. After a change of settings, the condition `Protected` follows with a sync. */
export const isListedAsProtected = ({ kind, policy }: ExplainedFacts): boolean =>
  kind === 'User' && policy.protected;

/** Returns what becomes of the linked account or group of a resource that the settings leave out. */
function linkedStateText(facts: ExplainedFacts): string {
  const where = facts.platform?.accountGone ? 'that it had there' : 'that exists there';
  return facts.kind === 'User'
    ? `the account ${where} is ${closedText(facts)}`
    : `the group ${where} is kept as it is until the source deletes the group`;
}

/** Returns the state of the account or group of a resource that is not wanted at the target, as words that follow "is". */
function closedText({ kind, link, platform, policy }: ExplainedFacts): string {
  if (platform?.accountGone) return 'gone: the platform does not have it any more, and nothing is to be done';
  if (kind === 'User' && link.active === false) return 'closed';
  if (policy.policy !== 'sync') return `left as it is by the policy ${policy.policy}`;
  return kind === 'User' ? 'not closed by the bridge' : 'closed';
}
