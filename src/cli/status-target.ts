// Prints the status of one connection at one target: first a line with counts, then a line for each fact that an operator should
// know, such as what is held, what waits, why calls fail, how the last reconcile ended, and which resources need a person.
import { heldUntil, holdAdvice, holderWords } from '../directory/guard/operator-hold.ts';
import type { EventDelivery } from '../directory/logs/event-stream.ts';
import { isKeyRefused } from '../directory/outbox/breaker.ts';
import { isForKey } from '../directory/outbox/budget.ts';
import type { DriftCount } from '../directory/outbox/runs.ts';
import type { ExceptionView } from '../ops/approvals/exceptions.ts';
import { proofSummary } from '../ops/doctor/proof-findings.ts';
import { AFTER_DROPPED, droppedEventsText } from '../ops/events.ts';
import { redisRefusalOf, workerMissing, type FleetReport } from '../ops/status/fleet.ts';
import { loadText } from '../ops/status/load-progress.ts';
import type { TargetStatus } from '../ops/status/status.ts';
import { OTHER_SETTINGS } from '../reconcile/apply/make-report.ts';
import { failureAdvice, failureSinceWords, pauseWords } from '../reconcile/breaker-words.ts';
import { movedText } from '../reconcile/tenant/tenant.ts';
import { coverageText } from '../reconcile/text/coverage-text.ts';
import {
  EXCEPTION_WORDS,
  exceptionTotalText,
  heldSuffix,
  withoutGuardHolds,
} from '../reconcile/text/exception-words.ts';
import { counted, total } from '../support/counted.ts';
import { isoTime } from '../support/sources.ts';
import { expiryText } from './approval-view.ts';
import { say } from './output.ts';

/**
 * @param named the exceptions that are printed one by one; of the others only the number is printed
 * @param failing a sentence about changes that the platform ignores again and again
 */
export function printTarget(status: TargetStatus, named: ExceptionView[], failing: string | undefined): void {
  const { target, breaker, fleet, hold, events } = status;
  printCounts(status);
  printHeldChanges(status);
  printCoverage(status);
  printWaiting(status);
  if (failing !== undefined) say(`  ${failing}`);
  if (status.load) say(`  ${loadText(status.load, target)}`);
  for (const line of breakerLines(breaker, target, fleet)) say(`  ${line}`);
  printProof(status);
  printNeedsOfReconcile(status);
  printLastReconcile(status.reconcile);
  if (hold) {
    // A hold because of another tenant stops all connections of the target, so `holderWords` may name another connection.
    say(`  on hold since ${isoTime(hold.since)} by ${holderWords(hold)}: ${heldUntil(target, hold)}`);
  }
  if (events) printEvents(events);
  printExceptions(status.exceptions, named);
}

function printCounts(status: TargetStatus): void {
  const { connection, target, users, groups, dirty, blocked, oldestMs, guard } = status;
  say(
    `${connection} → ${target}: ${counted(users, 'user')}, ${counted(groups, 'group')}; ` +
      `${dirty} not applied yet${dirty > 0 ? ` (the oldest for ${duration(oldestMs)})` : ''}, ` +
      `${counted(blocked, 'dead letter')}` +
      (guard.held > 0 ? `, ${guard.held} held by the guard: see scim-bridge approvals list` : ''),
  );
}

/** Prints until when the held changes can be decided. */
function printHeldChanges({ target, guard, hold }: TargetStatus): void {
  const endOfHold = hold ? holdAdvice(target, hold) : undefined;
  if (guard.expiresAt !== null)
    say(`  held changes: the approval ${expiryText(guard.expiresAt, guard.leftMs ?? 0, endOfHold)}`);
  // If the newest approval has expired, the line above tells when the guard judges its changes anew, so this line is left out.
  if (guard.approvalExpired !== null && (guard.leftMs === null || guard.leftMs > 0))
    say(`  ${guard.approvalExpired}`);
}

function printCoverage({ coverage }: TargetStatus): void {
  // `true`: the counts are current; only the number of resources that the platform shows is from the last reconcile.
  say(`  people: ${coverageText(coverage.users, true)}`);
  // An identity provider may push people alone.
  if (coverage.groups.desired > 0) say(`  groups: ${coverageText(coverage.groups, true)}`);
  const missing = coverage.users.missing + coverage.groups.missing;
  if (missing > 0)
    say('  missing: not as stored at the platform, and no sync is due; scim-bridge reconcile brings it');
}

function printWaiting({ dirty, hold, priorities, fleet }: TargetStatus): void {
  if (dirty === 0) return;
  const refuses = redisRefusalOf(fleet.findings) !== undefined;
  const causes = [
    ...(hold ? ['for the end of the hold'] : []),
    ...(refuses ? ['until Redis takes writes'] : []),
  ];
  const title = causes.length > 0 ? `waiting ${causes.join(' and ')}` : 'waiting';
  // While Redis takes no writes, a change that was handed over may have no job in the queue.
  const handedOver = refuses ? 'handed over' : 'in the queue or with a worker';
  say(`  ${title}: ${waitingText(dirty, priorities, handedOver)}`);
}

/**
 * Returns the number of waiting resources by priority, and the number of those that were handed over to the queue or a worker. A
 * resource whose deactivation the source took back is still counted with the priority `deactivation`.
 * @param handedOver words for resources that were handed over
 */
function waitingText(dirty: number, priorities: TargetStatus['priorities'], handedOver: string): string {
  const waiting = Object.entries(priorities).filter(([, count]) => count > 0);
  const taken = dirty - total(waiting.map(([, count]) => count));
  return [
    ...waiting.map(([priority, count]) => `${count} in the priority ${priority}`),
    ...(taken > 0 ? [`${taken} ${handedOver}`] : []),
  ].join(', ');
}

/** Returns the lines about breaker and pause. A pause because of a refused key has no line: the advice about the key covers it. */
function breakerLines(state: TargetStatus['breaker'], target: string, { findings }: FleetReport): string[] {
  // `since` and `status` are stored with the failures that are printed below, so their defaults are never printed. For
  // `only` and `ofOtherKey` see BreakerState.
  const { open, since = 0, status = 0, only, ofOtherKey, pause } = state;
  const failure = { status, only, ofOtherKey };
  const what = [
    open && sentText(findings),
    (open || isKeyRefused(state)) && failureAdvice(target, failure),
  ].filter(Boolean);
  return [
    ...(what.length > 0
      ? [`the platform ${failureSinceWords(failure, isoTime(since))}: ${what.join('; ')}`]
      : []),
    ...(pause && !isForKey(pause) ? [pauseWords(pause)] : []),
  ];
}

/** Returns what is sent to a target while its breaker is open. */
function sentText(findings: FleetReport['findings']): string {
  if (redisRefusalOf(findings)) return 'Redis takes no writes, so nothing is sent';
  return workerMissing(findings) ? 'no worker runs, so nothing is sent' : 'only probes are sent';
}

function printProof({ proof }: TargetStatus): void {
  if (!proof) return;
  const advice = proof.faults > 0 ? ': see scim-bridge doctor --deep' : '';
  say(`  derived data, compared ${isoTime(proof.endedAt)}: ${proofSummary(proof)}${advice}`);
}

/** Prints why a reconcile is needed: the target has another address, the settings changed, or values were lost. */
function printNeedsOfReconcile({ target, hasMoved, hasNewRules, lostAttributes }: TargetStatus): void {
  if (hasMoved) say(`  ${movedText(target)}`);
  if (hasNewRules)
    say(
      '  mapping, scope, group names or policy in the settings changed, or the target was not in them, since a reconcile last brought them to everybody: the counts may be by the former settings. scim-bridge reconcile brings the new ones, except while an attribute has another type at the platform, or while a process of the service runs with other settings, or not everybody could be read',
    );
  if (lostAttributes.length > 0)
    say(
      `  ! the definition of ${lostAttributes.join(', ')} was deleted at the platform, so values of people may be lost: scim-bridge reconcile looks at all people, and writes the values that are lost`,
    );
}

/**
 * The advice in the message of a run, such as `: see scim-bridge plan` or the sentences after `Nothing is written there`
 * (tenant.ts). It ends with the message, or before its part about processes with other settings.
 */
const ADVICE = new RegExp(
  String.raw`([:;] (see )?scim-bridge |\. Nothing is written there\.|\. Check it with ).*?(?=; ${OTHER_SETTINGS}|$)`,
);

function printLastReconcile(reconcile: TargetStatus['reconcile']): void {
  const { last } = reconcile;
  if (last) {
    const found = driftText(last.drift ?? []);
    // Other lines show the present state, so words about held changes are put in the past.
    const pastMessage = last.message?.replace(ADVICE, '').replace(/^the guard holds/, 'the guard held');
    // The message of a failure tells the state of that time, so it is quoted.
    const told = last.outcome === 'failed' ? ` with "${pastMessage}"` : `, ${pastMessage}`;
    const reason = pastMessage ? told : '';
    say(`  last reconcile ${isoTime(last.endedAt)}: ${last.outcome}${found}${reason}`);
  }
  if (last?.conflicts) {
    const { count, reason } = last.conflicts;
    const others = count > 1 ? `, and ${count - 1} more: scim-bridge plan names them` : '';
    say(
      `  ! ${counted(count, 'conflict')} ${count === 1 ? 'needs' : 'need'} a person: ${reason}${others}. Then run scim-bridge reconcile`,
    );
  }
  if (reconcile.overdue !== null) say(`  ${reconcile.overdue}: run scim-bridge reconcile`);
}

const DRIFT_WORDS: [cause: string, words: (count: number) => string][] = [
  ['platform changed', (count) => `${counted(count, 'change')} by others found`],
  [
    'changed after the backup',
    (count) => `${counted(count, 'change')} by others or the bridge after the backup found`,
  ],
  ['write did not stick', (count) => `${counted(count, 'write')} that did not stick found`],
];

const driftText = (drift: readonly DriftCount[]): string =>
  DRIFT_WORDS.map(([cause, words]) => {
    const count = total(drift.filter((each) => each.cause === cause).map((each) => each.count));
    return count === 0 ? '' : `, ${words(count)}`;
  }).join('');

function printEvents(delivery: EventDelivery): void {
  const { pending, oldestMs, kept, delivered, problem } = delivery;
  const parts = [
    `${pending} not taken yet${pending > 0 ? ` (the oldest for ${duration(oldestMs)})` : ''}`,
    `${delivered} delivered`,
    ...(kept > 0 ? [`${kept} refused: see scim-bridge events refused`] : []),
    ...(problem === null ? [] : [`the receiver ${problem}`]),
  ];
  say(`  events: ${parts.join(', ')}`);
  const dropped = droppedEventsText(delivery);
  if (dropped !== undefined) say(`  ! ${dropped}: ${AFTER_DROPPED}`);
}

function printExceptions(exceptions: TargetStatus['exceptions'], named: readonly ExceptionView[]): void {
  if (exceptions.total === 0) return;
  say(
    `  ${exceptionTotalText(exceptions)}, the oldest for ${duration(exceptions.oldestMs)}: see scim-bridge exceptions`,
  );
  for (const { kind, name, reason, since, message } of named)
    say(
      `    ${kind === 'Group' ? 'group ' : ''}${name} ${EXCEPTION_WORDS[reason]} since ${since}${heldSuffix(reason)}: ${withoutGuardHolds(message)}`,
    );
  if (named.length < exceptions.total) say(`    … and ${exceptions.total - named.length} more`);
}

/** Units of a duration above a second, and their seconds, the longest first. */
const LARGE_UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** Formats a duration as one unit, rounded down: `3 min`. */
function duration(ms: number): string {
  const seconds = ms / 1000;
  const [unit, size] = LARGE_UNITS.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}
