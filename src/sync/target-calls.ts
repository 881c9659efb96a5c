// Records how the calls of this process to one target go: whether the target answers, and whether calls wait for the rate
// limit, for a slot, or for answers.
import type { TargetWork } from '../directory/fleet/fleet-store.ts';
import type { Clock } from '../support/sources.ts';
import { weightOf } from '../directory/outbox/breaker.ts';
import type { PlatformCall } from '../platform/client.ts';

/** A target that gives no good answer: since when, and the last failure. */
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

export type TargetWorkMeter = ReturnType<typeof createTargetWork>;

/** @param queued returns the number of calls that wait for a slot @param limit returns the number of slots */
export function createTargetWork(
  { clock }: { clock: Clock },
  { queued, limit }: { queued: () => number; limit: () => number },
) {
  let calls = 0;
  let delayed = 0;
  let waiting = 0;
  let busyMs = 0;
  let readAt = clock.now();
  return {
    /** Measures one wait for the rate limit. @param take resolves with the milliseconds that it waited */
    wait: async (take: () => Promise<number>): Promise<number> => {
      waiting++;
      try {
        const waitedMs = await take();
        calls++;
        if (waitedMs > 0) delayed++;
        return waitedMs;
      } finally {
        waiting--;
      }
    },
    ended: ({ durationMs }: { durationMs: number }): void => {
      busyMs += durationMs;
    },
    /** Returns the measures since the last read and resets them. */
    read: (): TargetWork => {
      const elapsedMs = Math.max(1, clock.now() - readAt);
      const busy = Math.min(1, busyMs / (elapsedMs * Math.max(1, limit())));
      const work = { calls, delayed, waiting, queued: queued(), busy: Math.round(busy * 100) / 100 };
      calls = 0;
      delayed = 0;
      busyMs = 0;
      readAt = clock.now();
      return work;
    },
  };
}
