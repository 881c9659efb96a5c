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

/** Records calls of this process to one target. */
export function createAnswering(clock: Clock) {
  let silence: TargetSilence | undefined;
  let limited: RateLimited | undefined;
  let answeredAt: number | undefined;
  /** Unix milliseconds since when calls cannot go out, by cause. */
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
    started: (): void => {
      silence ??= { since: clock.now(), failures: 0, last: undefined };
    },
    ended: (call: PlatformCall): void => {
      const { status, error, durationMs } = call;
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
    /** Records whether calls are stopped. @returns since when, for all commands of this process; undefined: they are not */
    noteStop: (cause: 'failing' | 'waiting', isStopped: boolean): number | undefined => {
      if (!isStopped) stops.delete(cause);
      else if (!stops.has(cause)) stops.set(cause, clock.now());
      return stops.get(cause);
    },
  };
}
