// Records whether a target answers the calls of this process.
import { weightOf } from '../directory/outbox/breaker.ts';
import type { PlatformCall } from '../platform/client.ts';
import type { Clock } from '../support/sources.ts';

export interface TargetSilence {
  /** Unix milliseconds of the first call without a good answer. */
  since: number;
  failures: number;
  /** The last failed call; undefined while the first calls wait for an answer. */
  last: Pick<PlatformCall, 'status' | 'error'> | undefined;
}

/** The platform has answered every call since a time with 429. */
export interface RateLimited {
  /** Unix milliseconds of the first and of the last 429. */
  since: number;
  last: number;
}

const TOO_MANY = 429;

export type Answering = ReturnType<typeof createAnswering>;

/** Creates the record of the calls of this process to one target. */
export function createAnswering(clock: Clock) {
  let silence: TargetSilence | undefined;
  let limited: RateLimited | undefined;
  let answeredAt: number | undefined;
  /** Cause why no calls are sent → Unix milliseconds since when. */
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
      silence ??= { since: clock.now(), failures: 0, last: undefined };
    },
    ended: (call: PlatformCall): void => {
      const { status, error, durationMs } = call;
      // Undefined: the call tells nothing about the target. 0: the target answered.
      const weight = weightOf(call);
      if (weight === undefined) return;
      if (weight === 0) noteAnswer(status);
      else {
        const since = silence?.since ?? clock.now() - durationMs;
        const last = error === undefined ? { status } : { status, error };
        silence = { since, failures: (silence?.failures ?? 0) + 1, last };
      }
    },
    /** Returns undefined after a good answer, and before the first call. */
    read: (): TargetSilence | undefined => silence,
    /** Returns undefined unless the last answers were 429. */
    readLimited: (): RateLimited | undefined => limited,
    /** Returns the time of the last good answer. */
    answeredAt: (): number | undefined => answeredAt,
    /**
     * Records whether calls are stopped for a cause, so that all readers in this process see the same start.
     * @returns Unix milliseconds since when they are stopped; undefined: they are not
     */
    noteStop: (cause: 'failing' | 'waiting', isStopped: boolean): number | undefined => {
      if (!isStopped) stops.delete(cause);
      else if (!stops.has(cause)) stops.set(cause, clock.now());
      return stops.get(cause);
    },
  };
}
