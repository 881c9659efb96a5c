// Converts the pending change of a resource to sentences: what its sync waits for, and which attempts failed. Pure.
import type { ExplainedFacts } from './explanation.ts';
import {
  redisRefusalOf,
  workerMissing,
  type FleetFinding,
  type FleetFindingKind,
} from '../ops/status/fleet.ts';
import { counted } from '../support/counted.ts';
import { capital, someOf } from '../support/sentence-parts.ts';
import { isSettledValue } from './value-reasons.ts';

/**
 * Returns the sentences about a pending change, and about findings that delay it; '': a sentence that does not apply.
 * @param summary text that may have the sentence about the name already
 */
export const pendingReasons = (facts: ExplainedFacts, summary: string): string[] => [
  waitingFor(facts),
  ...delays(facts).map(({ message, advice }) => `${capital(message)}. ${advice}`),
  failedAttempts(facts),
  waitsForName(facts, summary),
  unansweredCreation(facts),
];

/** Returns sentences about what a marked change waits for; '' without a mark, or if other sentences say it. */
function waitingFor(facts: ExplainedFacts): string {
  const { mark, link, memberships, pause } = facts;
  // While the target is on hold or not recognised, the due time of the change has no effect.
  if (!mark || facts.hold || facts.hasMoved) return '';
  // A running sync waits for the end of a pause too, and the summary names the pause.
  if (mark.state === 'running' && pause) return '';
  if (mark.state === 'running') return 'A worker is at it right now.';
  // The findings about the fleet say that no worker applies it.
  if (noWorkerOf(facts) && !isBehindHeld(mark)) return '';
  if (mark.state === 'queued') return 'It waits in the queue for a free worker.';
  const removals = memberships
    .filter(({ state, condition }) => state === 'toRemove' && condition !== 'Rejected')
    .map(({ name }) => name);
  // The sync of a person with an account waits for removals from groups; the sync of a group waits for none.
  const waits =
    facts.kind === 'User' && removals.length > 0 && link.platformId !== null
      ? ` It waits until ${someOf(removals)} ${removals.length === 1 ? 'is' : 'are'} left.`
      : '';
  if (isBehindHeld(mark)) return waits.trim();
  // A mark that is due has a time and a priority: the defaults are for the types alone.
  return `It is due at ${mark.nextTry ?? 'once'}, in the priority ${mark.priority ?? 'edit'}.${waits}`;
}

/** Findings (ops/status/fleet.ts) that delay both a sync and the next reconcile. */
const DELAYS: readonly FleetFindingKind[] = ['noProcess', 'versionsDiffer', 'settingsDiffer'];
/** Findings that delay a sync. */
const DELAYS_SYNC: readonly FleetFindingKind[] = [...DELAYS, 'noWorker'];
/** Findings that delay the next reconcile. */
const DELAYS_RECONCILE: readonly FleetFindingKind[] = [...DELAYS, 'noScheduler'];

/** Returns the findings that delay the sync of a marked resource, or else the next reconcile of a resource that differs. */
function delays({ mark, values, fleet }: ExplainedFacts): FleetFinding[] {
  const refusal = redisRefusalOf(fleet);
  if (refusal) return [refusal];
  // A change that waits for a decision or for a refused group is not delayed by a missing worker or by another version.
  if (isBehindHeld(mark)) return [];
  if (mark) return fleet.filter(({ finding }) => DELAYS_SYNC.includes(finding));
  if (values.every(({ state }) => isSettledValue(state))) return [];
  return fleet.filter(({ finding }) => DELAYS_RECONCILE.includes(finding));
}

/**
 * Returns a sentence about failed attempts. If the breaker or a pause stops all calls, another sentence says so; without a mark no
 * attempt follows.
 */
function failedAttempts(facts: ExplainedFacts): string {
  const { link, mark, pause } = facts;
  if (link.attempts === 0 || mark === null || stoppingBreaker(facts) || pause) return '';
  const last = link.lastFailure === null ? '' : ` The last failure: ${link.lastFailure}.`;
  return `The platform has failed ${counted(link.attempts, 'time')} in a row; it is tried again.${last}`;
}

/**
 * Returns the breaker or refused key that stops the next call of a pending resource; null: none does. A resource without account or
 * group needs GET and POST first, so a 401 for other methods alone does not stop it.
 */
export function stoppingBreaker({ breaker, link }: ExplainedFacts): ExplainedFacts['breaker'] {
  const isOfOthers =
    breaker?.only &&
    !breaker.open &&
    link.platformId === null &&
    !breaker.only.some((method) => method === 'GET' || method === 'POST');
  return isOfOthers ? null : breaker;
}

/** Returns a sentence about a name that the platform does not give yet; '' if the condition or the summary says it. */
function waitsForName(facts: ExplainedFacts, summary: string): string {
  const { condition, link, mark } = facts;
  const isTold = condition !== null || summary.includes(nameText(facts));
  return link.waitsForName && mark !== null && !isTold ? `${nameText(facts)}. It is tried again.` : '';
}

/** Returns the words about a name or account that the platform does not give yet, without their full stop. */
export const nameText = ({ kind }: ExplainedFacts): string =>
  `The platform does not give the ${kind === 'User' ? 'userName or the account' : 'name'} yet: another ${kind === 'User' ? 'person' : 'group'} is to give it up, or what has it is not shown there yet`;

/** Returns a sentence about an account or group whose creation got no answer yet. */
function unansweredCreation({ kind, link, mark }: ExplainedFacts): string {
  if (!link.creating) return '';
  const made = kind === 'User' ? 'An account' : 'A group';
  return mark?.state === 'running'
    ? `${made} was asked for and no answer has come yet.`
    : `${made} was asked for and the answer was lost: it is looked for before another one is made, or before a deletion ends.`;
}

/** Returns whether the mark waits for a held change of another resource, or for a refused group: it is due, and has no priority. */
export const isBehindHeld = (mark: ExplainedFacts['mark']): boolean =>
  mark?.state === 'due' && mark.priority === null;

/** Returns the finding that no worker applies changes: none runs, or Redis takes no writes. */
export const noWorkerOf = ({ fleet }: ExplainedFacts): FleetFinding | undefined =>
  redisRefusalOf(fleet) ?? workerMissing(fleet);
