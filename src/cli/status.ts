// Defines the command status, which prints the backlog and the health of each target.
import type { Command } from 'commander';
import { heldUntil, holdAdvice, holderWords } from '../directory/guard/operator-hold.ts';
import { isKeyRefused } from '../directory/outbox/breaker.ts';
import { isForKey } from '../directory/outbox/budget.ts';
import type { DriftCount } from '../directory/outbox/runs.ts';
import type { EventDelivery } from '../directory/logs/event-stream.ts';
import { listExceptions, type ExceptionView } from '../ops/approvals/exceptions.ts';
import { AFTER_DROPPED, droppedEventsText } from '../ops/events.ts';
import { EXCEPTION_REASONS } from '../directory/outbox/exceptions.ts';
import {
  heldSuffix,
  EXCEPTION_WORDS,
  withoutGuardHolds,
  exceptionTotalText,
} from '../reconcile/text/exception-words.ts';
import { failingText } from '../ops/status/failing.ts';
import { proofSummary } from '../ops/doctor/proof-findings.ts';
import { fleetText, processText } from '../ops/status/fleet-text.ts';
import { redisRefusalOf, workerMissing, type FleetReport } from '../ops/status/fleet.ts';
import { loadText } from '../ops/status/load-progress.ts';
import { isConverged, readStatus, type TargetStatus } from '../ops/status/status.ts';
import { failureAdvice, failureSinceWords, pauseWords } from '../reconcile/breaker-words.ts';
import { movedText } from '../reconcile/tenant/tenant.ts';
import { coverageText } from '../reconcile/text/coverage-text.ts';
import { expiryText } from './approval-view.ts';
import { isoTime, systemClock } from '../support/sources.ts';
import { tokenFindings } from '../ops/doctor/token-findings.ts';
import { readConfig, type Cli } from './cli.ts';
import { withStore } from './store.ts';
import { say, sayJson } from './output.ts';
import { counted, total } from '../support/counted.ts';

export function statusCommand(program: Command, cli: Cli): void {
  program
    .command('status')
    .description('how far each target is behind; exit 2 while something is not applied')
    .option('--json', 'print as JSON')
    .action(async (options: { json?: boolean }, command: Command) => {
      const config = readConfig(command, cli);
      const rows = await withStore(config, async (states, store) => {
        const found = await readStatus(states, store);
        if (options.json) return found;
        for (const row of found) {
          const { connection, target } = row;
          const named: ExceptionView[] = [];
          for (const reason of EXCEPTION_REASONS.filter((each) => row.exceptions[each] > 0))
            named.push(...(await listExceptions(states, { connection, target, reason, limit: MOST_NAMED })));
          const state = states.find((each) => each.connection === connection);
          printTarget(row, named, row.dirty > 0 && state ? await failingText(state, target) : undefined);
        }
        // Each row has the report of the same fleet.
        printFleet(found[0]?.fleet ?? (await store.readFleet()));
        const tokensOf = (connection: string) => config.connections[connection]?.tokens ?? [];
        for (const { area, message, advice } of await tokenFindings({ states, tokensOf }, systemClock))
          say(`${area}: ! ${message}. ${advice ?? ''}`);
        return found;
      });
      if (options.json) sayJson(rows);
      cli.exit(rows.every(isConverged) ? 0 : 2);
    });
}

/** Largest number of exceptions of each reason that are named. */
const MOST_NAMED = 3;

/**
 * Returns the number of waiting resources by priority, and of those in the queue or with a worker. A resource whose deactivation
 * the source took back keeps the priority of the deactivation.
 */
function waitingText(dirty: number, priorities: TargetStatus['priorities']): string {
  const waiting = Object.entries(priorities).filter(([, count]) => count > 0);
  const taken = dirty - total(waiting.map(([, count]) => count));
  return [
    ...waiting.map(([priority, count]) => `${count} in the priority ${priority}`),
    ...(taken > 0 ? [`${taken} in the queue or with a worker`] : []),
  ].join(', ');
}

/**
 * Prints the status of one connection at one target.
 * @param named exceptions that are named
 * @param failing a sentence about changes that the platform ignores again and again
 */
function printTarget(
  { connection, target, users, groups, ...rest }: TargetStatus,
  named: ExceptionView[],
  failing: string | undefined,
): void {
  const { dirty, blocked, oldestMs, guard, breaker, reconcile, hold, events, exceptions } = rest;
  say(
    `${connection} → ${target}: ${counted(users, 'user')}, ${counted(groups, 'group')}; ` +
      `${dirty} not applied yet${dirty > 0 ? ` (the oldest for ${duration(oldestMs)})` : ''}, ` +
      `${counted(blocked, 'dead letter')}` +
      (guard.held > 0 ? `, ${guard.held} held by the guard: see scim-bridge approvals list` : ''),
  );
  const endOfHold = hold ? holdAdvice(target, hold) : undefined;
  if (guard.expiresAt !== null)
    say(`  held changes: the approval ${expiryText(guard.expiresAt, guard.leftMs ?? 0, endOfHold)}`);
  // If the newest approval has expired, the line above tells when the guard judges its changes anew, so this line is left out.
  if (guard.approvalExpired !== null && (guard.leftMs === null || guard.leftMs > 0))
    say(`  ${guard.approvalExpired}`);
  const { coverage } = rest;
  // `true`: the counts are current; only the number of resources that the platform shows is from the last reconcile.
  say(`  people: ${coverageText(coverage.users, true)}`);
  // An identity provider may push people alone.
  if (coverage.groups.desired > 0) say(`  groups: ${coverageText(coverage.groups, true)}`);
  const missing = coverage.users.missing + coverage.groups.missing;
  if (missing > 0)
    say('  missing: not as stored at the platform, and no sync is due; scim-bridge reconcile brings it');
  if (dirty > 0)
    say(`  waiting${hold ? ' for the end of the hold' : ''}: ${waitingText(dirty, rest.priorities)}`);
  if (failing !== undefined) say(`  ${failing}`);
  if (rest.load) say(`  ${loadText(rest.load, target)}`);
  for (const line of breakerLines(breaker, target, rest.fleet)) say(`  ${line}`);
  const { proof } = rest;
  if (proof) {
    const advice = proof.faults > 0 ? ': see scim-bridge doctor --deep' : '';
    say(`  derived data, compared ${isoTime(proof.endedAt)}: ${proofSummary(proof)}${advice}`);
  }
  if (rest.hasMoved) say(`  ${movedText(target)}`);
  if (rest.hasNewRules)
    say(
      '  mapping, scope, group names or policy in the settings changed, or the target was not in them, since a reconcile last brought them to everybody: the counts may be by the former settings. scim-bridge reconcile brings the new ones, except while an attribute has another type at the platform',
    );
  if (rest.lostAttributes.length > 0)
    say(
      `  ! the definition of ${rest.lostAttributes.join(', ')} was deleted at the platform, so values of people may be lost: scim-bridge reconcile looks at all people, and writes the values that are lost`,
    );
  printLastReconcile(reconcile);
  if (hold) {
    // The holder of a tenant hold names the connection whose accounts were not found, maybe another one.
    say(`  on hold since ${isoTime(hold.since)} by ${holderWords(hold)}: ${heldUntil(target, hold)}`);
  }
  if (events) printEvents(events);
  printExceptions(exceptions, named);
}

function printLastReconcile(reconcile: TargetStatus['reconcile']): void {
  const { last } = reconcile;
  if (last) {
    const found = driftText(last.drift ?? []);
    // Other lines show the present state. So the advice at the end of the run's message, such as `: see scim-bridge plan` or the
    // sentences after `Nothing is written there` (tenant.ts), is left out, and words about held changes are put in the past.
    const pastMessage = last.message
      ?.replace(/([:;] (see )?scim-bridge |\. Nothing is written there\.|\. Check it with ).*$/, '')
      .replace(/^the guard holds/, 'the guard held');
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

const MOST_PROCESSES = 100;

function printFleet(fleet: FleetReport): void {
  const { processes, findings } = fleet;
  say(`fleet: ${fleetText(fleet)}`);
  for (const each of processes.slice(0, MOST_PROCESSES)) say(`  ${processText(each)}`);
  if (processes.length > MOST_PROCESSES) say(`  … and ${processes.length - MOST_PROCESSES} more`);
  for (const { message, advice } of findings) say(`  ! ${message}. ${advice}`);
}

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
