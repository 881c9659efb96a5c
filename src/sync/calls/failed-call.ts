// Converts a failed call of a sync to the outcome of the sync (`outcomeOfError`): tried again after a time, or a dead letter. Every
// failure of the platform counts (`link.attempts`). A final refusal becomes a dead letter, unless a proxy may have sent it. Other
// errors are thrown, or end the sync without a count.
import { isAwaitingDecision, type Condition } from '../../directory/outbox/link-condition.ts';
import { isUnmanaged, unmanagedId } from '../../directory/member-names.ts';
import { LeaseLost } from '../../directory/outbox/work.ts';
import { refOf } from '../../directory/records.ts';
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import { PlatformError, PlatformResponse } from '../../platform/errors.ts';
import { backoffMs } from '../../support/backoff.ts';
import { counted } from '../../support/counted.ts';
import { answersOtherwise, ListAwaited } from './absence.ts';
import { condition as toCondition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { judgeFailure, mayBeTransient, type RefusedVerdict } from './failures.ts';
import { WriteIgnored, type SyncOutcome } from '../outcome.ts';

/** Waits between attempts of a write that the platform answers with success and does not carry out. */
const IGNORED_BACKOFF = { baseMs: 1000, maxMs: 60_000 };

/**
 * Consecutive failures of one resource after which it gets a condition, although the sync is tried again. As many failures open the
 * circuit breaker (directory/outbox/breaker.ts), unless other calls to the target succeed.
 */
const FAILURES_TO_TELL = 5;

/** Interval of attempts while a list is read that may prove an absence (absence.ts). */
const LIST_AWAITED_MS = 2000;

/** Interval of attempts while a refusal may come from a proxy: another call to the platform does not succeed either. */
const UNREACHABLE_MS = 30_000;

/** Writes whose refusal does not end when a value at the source is corrected → their name in the condition of the dead letter. */
const WITHOUT_VALUE: ReadonlyMap<string, NonNullable<Condition['write']>> = new Map([
  ['deactivate user', 'deactivate'],
  ['delete user', 'delete'],
  ['delete group', 'delete'],
  ['add members', 'members'],
  ['remove members', 'members'],
]);

/** Converts the error of a sync to its outcome. @throws LeaseLost, failures of Redis, and errors in the program */
export async function outcomeOfError(
  context: SyncContext,
  error: unknown,
  random: () => number,
): Promise<SyncOutcome> {
  const { link } = context;
  if (error instanceof LeaseLost) throw error;
  // Redis may lack the link of this sync, so no outcome is stored: the next sync begins with the stored link.
  if (isStoreFailure(error)) throw error;
  // This process stops, or the time of an ordered sync is over: another process goes on at once.
  if (context.call.signal.aborted) return { kind: 'later', afterMs: 0 };
  if (error instanceof ListAwaited) return { kind: 'later', afterMs: LIST_AWAITED_MS };
  if (!(error instanceof PlatformError) && !(error instanceof WriteIgnored)) throw error;
  // Records a failed read, which has no operation (''); a failed write was recorded with its operation (create-context.ts).
  context.provisioning.failed('', error);
  const attempts = (link.attempts ?? 0) + 1;
  link.attempts = attempts;
  link.failingSince ??= context.clock.now();
  link.lastFailure = error.message;
  return error instanceof WriteIgnored
    ? outcomeOfIgnored(context, error, backoffMs(attempts, IGNORED_BACKOFF, random))
    : outcomeOfPlatformError(context, error, attempts, random);
}

/** Returns the outcome of a write that the platform answered with success and did not carry out: it is tried again. */
function outcomeOfIgnored(context: SyncContext, error: WriteIgnored, afterMs: number): SyncOutcome {
  const condition = toCondition(context, 'NotApplied', error.message);
  return { kind: 'later', afterMs, condition: { ...condition, isIgnored: true } };
}

/** Judges an error of the platform (`judgeFailure`): the sync is tried again after a time, or the refusal is final. */
async function outcomeOfPlatformError(
  context: SyncContext,
  error: PlatformError,
  attempts: number,
  random: () => number,
): Promise<SyncOutcome> {
  const { link } = context;
  if (mayBeTransient(error)) link.transientRefusals = (link.transientRefusals ?? 0) + 1;
  else delete link.transientRefusals;
  const verdict = judgeFailure(error, attempts, random, link.transientRefusals);
  if (verdict.kind === 'refused') {
    const mayBeProxy = mayBeTransient(error) && !(await answersOtherwise(context, error));
    return mayBeProxy
      ? triedAgain(context, error, { afterMs: UNREACHABLE_MS, pauseMs: 0 })
      : deadLetterOf(context, error, verdict);
  }
  const { pauseMs } = verdict;
  if (pauseMs > 0 && error instanceof PlatformResponse) await pauseTarget(context, error, pauseMs);
  return triedAgain(context, error, verdict);
}

/** Returns the dead letter of a refused call, whose message names the refused values or members. */
async function deadLetterOf(
  context: SyncContext,
  error: PlatformError,
  verdict: RefusedVerdict,
): Promise<SyncOutcome> {
  const failedWrite = context.failedWrite?.error === error ? context.failedWrite : undefined;
  const { refusedMembers } = context;
  // A member was refused before, and another failure ended the sync, such as the refusal of a new group name.
  const also =
    refusedMembers && refusedMembers.error !== error
      ? `; ${await membersText(context, refusedMembers)}${refusedMembers.error.message}`
      : '';
  const refused = verdict.reason === 'Refused' ? valuesText(failedWrite) : '';
  const message = `${await membersText(context, failedWrite)}${refused}${verdict.message}${also}`;
  const condition = toCondition(context, verdict.reason, message, verdict.status);
  const write = failedWrite && WITHOUT_VALUE.get(failedWrite.operation);
  return { kind: 'blocked', condition: { ...condition, ...(write && { write }) } };
}

/** Pauses all calls to the target. */
async function pauseTarget(
  { target }: SyncContext,
  { status, retryAfterMs }: PlatformResponse,
  pauseMs: number,
): Promise<void> {
  // `asked`: the pause that the platform asked for. After a 401 the bridge chooses the pause; it shortens a long Retry-After
  // (failures.ts).
  const asked = status === 401 ? undefined : retryAfterMs;
  await target.budget.pause(pauseMs, {
    status,
    asked: asked === pauseMs,
    ...(asked !== undefined && asked > pauseMs ? { askedMs: asked } : {}),
  });
}

/**
 * Logs the failure, and returns the outcome for another attempt. The outcome has a condition if only the calls for this resource
 * fail; during a pause it has none, because the whole target waits then.
 * @param verdict `afterMs`: wait before the attempt; `pauseMs`: length of the pause of the target, 0: none
 */
async function triedAgain(
  context: SyncContext,
  error: PlatformError,
  { afterMs, pauseMs }: { afterMs: number; pauseMs: number },
): Promise<SyncOutcome> {
  const { link, logger, work } = context;
  // `platformMessage` is not logged, because it may name people.
  logger.warn(
    { ref: work.ref, attempt: link.attempts, afterMs, reason: error.message },
    'platform failed, trying again',
  );
  const isTold = pauseMs === 0 && (await isFailingAlone(context));
  if (!isTold) return { kind: 'later', afterMs };
  // The condition comes after some failures only; the calls have failed since the first of them.
  const told = toCondition(context, 'NotApplied', error.message);
  return { kind: 'later', afterMs, condition: { ...told, since: link.failingSince ?? told.since } };
}

/**
 * Returns whether the calls for this resource alone fail again and again. If the whole target fails, its open circuit breaker tells
 * so. A condition about a held or rejected change stays, because its decision comes first.
 */
async function isFailingAlone({ link, target }: SyncContext): Promise<boolean> {
  const isToldAlready = link.condition?.reason === 'NotApplied';
  const mayTell =
    isToldAlready || ((link.attempts ?? 0) >= FAILURES_TO_TELL && !isAwaitingDecision(link.condition));
  return mayTell && !(await target.breaker.read()).open;
}

/** Returns the start of the message about a refused write of attribute values, which names them; '' for another write. */
function valuesText({ names = [] }: Partial<NonNullable<SyncContext['failedWrite']>> = {}): string {
  if (!names.some((name) => name.startsWith('attributes.'))) return '';
  const values = names.map((name) => name.replace(/^attributes[.]/, ''));
  return `the platform refuses the ${values.length === 1 ? 'value' : 'values'} of ${values.join(', ')}: `;
}

/** Returns the start of the message about a refused change of members, which names the first of them; '' for another write. */
async function membersText(
  { links, outbox, target }: SyncContext,
  { operation, members: [first, ...others] = [] }: Partial<NonNullable<SyncContext['failedWrite']>> = {},
): Promise<string> {
  if (first === undefined) return '';
  const name = isUnmanaged(first)
    ? ((await outbox.unmanagedNames.namesOf([first])).get(first) ?? `the account ${unmanagedId(first)}`)
    : ((await links.get(target.name, refOf('User', first))).core?.userName ?? first);
  const rest = others.length > 0 ? ` and ${counted(others.length, 'other')}` : '';
  return `the platform refuses the ${operation === 'add members' ? 'addition' : 'removal'} of ${String(name)}${rest}: `;
}
