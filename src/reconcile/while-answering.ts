// Ends the work of a command when its target does not answer, or when calls wait too long for its rate limit or a pause. While
// the work runs, `judge` looks every CHECK_MS at the last calls of this process, and at the breaker and the pause that all
// replicas share.
import type { BreakerState } from '../directory/outbox/breaker.ts';
import { type Budget, isForKey, type Pause } from '../directory/outbox/budget.ts';
import { isoTime, type Clock } from '../support/sources.ts';
import { TOO_MANY, type RateLimited, type TargetSilence } from '../sync/calls/answering.ts';
import { pauseWords } from './breaker-words.ts';
import { targetRefusesRate, targetSilent, type TargetSilent, type Watched } from './target-silent.ts';

/**
 * Time without a good answer (`TargetSilence`: a 429 is one) after which a command gives up, milliseconds. Also the longest wait
 * for the rate limit or a pause as long as all answers were 429. The command, with its start, ends within 15 s.
 */
const SILENCE_MS = 9000;
/**
 * Longest wait for the rate limit or a pause after a good answer other than 429, milliseconds: longer than the usual window of a
 * rate limit.
 */
const LIMITED_MS = 120_000;
/** Interval of the checks, milliseconds. */
const CHECK_MS = 250;
/** Failures in a row that count as silence while the breaker is closed. */
const ENOUGH_FAILURES = 3;
/** Statuses that count as a failure of the target at the first answer. */
const CLEAR_STATUSES = new Set([401, 503]);
/** Wait for the rate limit or a pause after which the wait is reported, milliseconds. */
const TELL_AFTER_MS = 3000;

/** Returns whether the failures are enough to give up. Without a failure the calls have waited all the time for a first answer. */
const isSilenceSure = ({ failures, last }: TargetSilence, { open }: BreakerState): boolean =>
  open || failures === 0 || failures >= ENOUGH_FAILURES || CLEAR_STATUSES.has(last?.status ?? 0);

/**
 * Runs work with a signal that is aborted when the target does not answer, or when calls wait too long for its rate limit.
 * @param tell called with a sentence about each wait for the rate limit, once the wait has lasted some seconds
 * @throws TargetSilent; the reason of `signal`; what `work` throws
 */
export async function whileAnswering<T>(
  { target, clock }: Watched & { target: { budget: Pick<Budget, 'tryKey'> } },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  tell: (text: string) => void,
): Promise<T> {
  const { answering } = target;
  const silent = new AbortController();
  const either = AbortSignal.any([signal, silent.signal]);
  const tellWait = createWaitTeller(tell);
  let isChecking = false;

  /** Returns why the work ends; undefined while it goes on. */
  function judge(now: number, state: BreakerState): TargetSilent | undefined {
    const { open, pause } = state;
    const silence = answering.read();
    const limited = answering.readLimited();
    // Since when the breaker or a refused key stops all calls (so this process gets no answer of its own), and since when calls
    // wait for a pause or a rate limit.
    const stoppedSince = answering.noteStop('failing', open || isForKey(pause));
    const waitingSince = answering.noteStop('waiting', pause !== undefined || limited !== undefined);
    const isSilent =
      (stoppedSince !== undefined && now - stoppedSince >= SILENCE_MS) ||
      (silence !== undefined && now - silence.since >= SILENCE_MS && isSilenceSure(silence, state));
    if (isSilent) return targetSilent(target.name, { now, state, silence });
    // While the breaker or a refused key stops all calls, only `isSilent` counts. Without a wait for the rate limit there is
    // nothing to report.
    if (stoppedSince !== undefined || waitingSince === undefined) return undefined;
    const answeredAt = answering.answeredAt();
    // A target that has answered before is given more time, because its window of the rate limit may just have been used up.
    const waitedMs = now - Math.max(waitingSince, answeredAt ?? 0);
    if (waitedMs >= (answeredAt === undefined ? SILENCE_MS : LIMITED_MS))
      return targetRefusesRate(target.name, limited, pause);
    tellWait(now - waitingSince, limited, pause);
    return undefined;
  }

  async function check(): Promise<void> {
    const state = await target.breaker.read();
    const reason = judge(clock.now(), state);
    if (reason) silent.abort(reason);
  }
  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    check()
      .catch(() => undefined)
      .finally(() => (isChecking = false));
  }, CHECK_MS);
  const late = afterAbort(either, clock);
  try {
    // The service may have been refused with an older key: ends a pause for that key, so that the key of these settings is tried.
    await target.budget.tryKey();
    return await Promise.race([work(either), late.rejection]);
  } catch (error) {
    throw either.aborted ? either.reason : error;
  } finally {
    clearInterval(timer);
    late.forget();
  }
}

/** Returns a function that calls `tell` once for each wait, after the wait has lasted some seconds. */
function createWaitTeller(tell: (text: string) => void) {
  let told = '';
  return (waitedMs: number, limited: RateLimited | undefined, pause: Pause | undefined): void => {
    const since = limited ? `, HTTP 429 since ${isoTime(limited.since)}` : '';
    const text = pause ? `: ${pauseWords(pause)}` : since;
    // The text names the cause of the wait, so the same text is about a wait that was reported already.
    if (waitedMs < TELL_AFTER_MS || text === told) return;
    told = text;
    // 503 and the like are no rate limit: the platform is down for a while.
    const cause = pause && pause.status !== TOO_MANY ? 'the platform' : 'the rate limit of the platform';
    tell(`waits for ${cause}${text}`);
  };
}

/** Time that aborted work has to store its last results, milliseconds. */
const LAST_NOTES_MS = 1000;

/** Returns a promise that rejects some time after the abort, for work that does not end by itself, until `forget` is called. */
function afterAbort(signal: AbortSignal, clock: Clock): { rejection: Promise<never>; forget: () => void } {
  let end = (): void => undefined;
  const rejection = new Promise<never>((_resolve, reject) => {
    end = () => void clock.sleep(LAST_NOTES_MS).then(() => reject(signal.reason as Error));
  });
  // Nothing may wait for it any more when it rejects.
  rejection.catch(() => undefined);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  // Node keeps a signal with a listener as long as its source, and an import comes here for each row.
  return { rejection, forget: () => signal.removeEventListener('abort', end) };
}
