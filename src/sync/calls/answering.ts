// Records whether a target answers the calls of this process: since when it gives no good answer (`TargetSilence`), and since when
// every good answer is a 429 (`RateLimited`). An answer is good if it does not count against the target (`weightOf`).
// `untilAborted` waits for a read that several syncs share.
import { weightOf } from '../../directory/outbox/breaker.ts';
import type { PlatformCall } from '../../platform/client.ts';
import type { Clock } from '../../support/sources.ts';
import { type CallContext, PlatformAborted } from '../../platform/errors.ts';

/** A target that gives no good answer. */
export interface TargetSilence {
  /** Unix milliseconds of the first call without a good answer. */
  since: number;
  failures: number;
  /** The last failed call; undefined while the first calls wait for an answer. */
  last: Pick<PlatformCall, 'route' | 'status' | 'error'> | undefined;
}

/** Every good answer since a time was a 429: Unix milliseconds of the first and of the last of them. */
export interface RateLimited {
  since: number;
  last: number;
}

export const TOO_MANY = 429;

export type Answering = ReturnType<typeof createAnswering>;

/** Creates the record of the calls of this process to one target. */
export function createAnswering(clock: Clock) {
  let silence: TargetSilence | undefined;
  let limited: RateLimited | undefined;
  let answeredAt: number | undefined;
  let underWay = 0;
  /**
   * Cause for which calls are not sent, or wait → since when, Unix milliseconds. `failing`: the open breaker, or a refused key.
   * `waiting`: a pause, or the rate limit.
   */
  const stops = new Map<'failing' | 'waiting', number>();

  function noteAnswer(status: number): void {
    silence = undefined;
    if (status === TOO_MANY) {
      const now = clock.now();
      limited = { since: limited?.since ?? now, last: now };
    } else {
      limited = undefined;
      answeredAt = clock.now();
    }
  }
  return {
    /** Records that a call begins: without an answer, the silence counts from here. */
    started: (): void => {
      underWay += 1;
      silence ??= { since: clock.now(), failures: 0, last: undefined };
    },
    ended: (call: PlatformCall): void => {
      const { route, status, error, durationMs } = call;
      underWay -= 1;
      // Undefined: the bridge ended the call, so there is no result. 0: the target gave a good answer, which may be a 429.
      const weight = weightOf(call);
      if (weight === undefined) {
        // Without a failure and a call under way, a silence would measure the time until the next call.
        if (underWay === 0 && silence?.failures === 0) silence = undefined;
      } else if (weight === 0) noteAnswer(status);
      else {
        const since = silence?.since ?? clock.now() - durationMs;
        const last = error === undefined ? { route, status } : { route, status, error };
        silence = { since, failures: (silence?.failures ?? 0) + 1, last };
      }
    },
    /** Returns undefined before the first call, and from a good answer (429 included) until the next call begins. */
    read: (): TargetSilence | undefined => silence,
    /** Returns undefined unless the last good answer was a 429. */
    readLimited: (): RateLimited | undefined => limited,
    /** Returns Unix milliseconds of the last good answer except 429; undefined: there was none. */
    answeredAt: (): number | undefined => answeredAt,
    /**
     * Records whether calls are stopped or wait for a cause, so that all readers in this process see the same start.
     * @returns since when, Unix milliseconds; undefined: they are not
     */
    noteStop: (cause: 'failing' | 'waiting', isStopped: boolean): number | undefined => {
      if (!isStopped) stops.delete(cause);
      else if (!stops.has(cause)) stops.set(cause, clock.now());
      return stops.get(cause);
    },
  };
}

/**
 * Waits for a read that several syncs share: the signal of one ends its own wait, and not the read.
 * @param call context of the error
 * @throws PlatformAborted when the signal aborts first
 */
export async function untilAborted<T>(
  shared: Promise<T>,
  signal: AbortSignal,
  call: CallContext,
): Promise<T> {
  const left = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void =>
      reject(new PlatformAborted(call, { cause: signal.reason, redact: (text) => text }));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { signal: left.signal });
  });
  try {
    return await Promise.race([shared, aborted]);
  } finally {
    left.abort();
  }
}
