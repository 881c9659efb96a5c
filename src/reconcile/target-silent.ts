// Defines the error of a command whose target gives no good answer, in sentences for operators.
import type { RunReport } from '../directory/outbox/runs.ts';
import type { Breaker, BreakerState } from '../directory/outbox/breaker.ts';
import { isForKey, type Pause } from '../directory/outbox/budget.ts';
import { isoTime, type Clock } from '../support/sources.ts';
import { TOO_MANY, type RateLimited, type TargetSilence } from '../sync/calls/answering.ts';
import type { Target } from '../sync/target.ts';
import { breakerWords, failureSinceWords, newKeyAdvice, pauseWords } from './breaker-words.ts';

/** The target gave no good answer to a command. */
export class TargetSilent extends Error {
  override name = 'TargetSilent';
}

/**
 * Returns the report of a run that failed. @param run id of the run (`plan:<id>`); '' if TargetSilent ended it before it had a plan
 */
export const failedReport = (startedAt: number, endedAt: number, message: string, run = ''): RunReport => ({
  run,
  startedAt,
  endedAt,
  outcome: 'failed' as const,
  counts: {},
  users: 0,
  groups: 0,
  message,
});

/**
 * Returns the error for a target that does not answer: since when, with which status, and what to do.
 * @param facts `state` is shared by all replicas, `silence` is what this process has seen
 */
export function targetSilent(
  target: string,
  { now, state, silence }: { now: number; state: BreakerState; silence: TargetSilence | undefined },
): TargetSilent {
  // Methods that the platform answers with 401 while it accepts the key for other calls (BreakerState).
  const refusedMethods = state.only;
  // After a refused key all calls pause before the breaker opens. In both cases this process may have no answer of its own.
  const isStopped = state.open || isForKey(state.pause);
  // 0: the target gave no answer.
  const status = silence?.last?.status ?? (isStopped ? state.status : undefined) ?? 0;
  // `state.since` is shared: another process may have failed first.
  const since = state.since ?? silence?.since ?? now;
  // True: a process of the service uses another key, and that key is refused. If this process was refused itself, the refused key
  // is the one of its own settings.
  const ofOtherKey = silence?.last?.status === 401 ? undefined : state.ofOtherKey;
  const failure = { status, only: refusedMethods, ofOtherKey };
  // Without a shared count of failures, calls of other processes may have succeeded meanwhile.
  const told =
    state.since === undefined
      ? `${breakerWords(failure)} since ${isoTime(since)}`
      : failureSinceWords(failure, isoTime(since));
  const how = `The target ${target} ${told}`;
  if (status === 401)
    return new TargetSilent(
      `${how}: ${newKeyAdvice(target, { only: refusedMethods, ofOtherKey })}, then repeat the command.`,
    );
  const detail = detailOf(silence?.last, status);
  return new TargetSilent(`${how}${detail}. Check it with scim-bridge doctor, then repeat the command.`);
}

/**
 * Returns the error for a target that goes on answering 429, or to which all calls pause because of another status.
 * @param pause the pause that the processes share, if the target is paused
 */
export function targetRefusesRate(
  target: string,
  limited: RateLimited | undefined,
  pause: Pause | undefined,
): TargetSilent {
  // Without an answer of its own, this process knows the status from the pause that another process stored.
  const status = limited ? TOO_MANY : (pause?.status ?? TOO_MANY);
  const since = limited ? ` since ${isoTime(limited.since)}, last at ${isoTime(limited.last)}` : '';
  const wait = pause ? `: ${pauseWords(pause)}` : '';
  const advice =
    status === TOO_MANY
      ? `lower targets.${target}.rateLimit or find what else uses the limit`
      : 'ask how long the maintenance of the platform lasts';
  return new TargetSilent(
    `The target ${target} ${breakerWords({ status })}${since}${wait}. Repeat the command later; if it stays, ${advice}.`,
  );
}

/** A target with what tells whether it answers. */
export interface Watched {
  target: Pick<Target, 'name' | 'answering'> & { breaker: Pick<Breaker, 'read'> };
  clock: Clock;
}

/** @throws TargetSilent when the last calls of this process had no good answer */
export async function throwIfSilent({ target: { name, answering, breaker }, clock }: Watched): Promise<void> {
  const silence = answering.read();
  const limited = answering.readLimited();
  if (!silence && !limited) return;
  const state = await breaker.read();
  if (silence) throw targetSilent(name, { now: clock.now(), state, silence });
  throw targetRefusesRate(name, limited, state.pause);
}

/** Returns how the last call failed, as the rest of a sentence; '' if the status says it, or no call of this process has ended. */
function detailOf(last: TargetSilence['last'], status: number): string {
  if (last?.error === 'PlatformIntermediary' && status >= 400) return ': a proxy answers in its place';
  // breakerWords has already named the status.
  if (status > 0 || last === undefined) return '';
  return last.error === 'PlatformTimeout'
    ? ': a call got no answer in time'
    : ': no connection was possible, or it broke';
}
