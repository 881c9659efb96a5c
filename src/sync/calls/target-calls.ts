// Limits the concurrent calls of this process to one target, and records how they go: whether the target answers, and whether
// calls wait for the rate limit, for a slot, or for answers.
import type { TargetWork } from '../../directory/fleet/fleet-store.ts';
import type { Clock } from '../../support/sources.ts';
import { weightOf } from '../../directory/outbox/breaker.ts';
import type { PlatformCall } from '../../platform/client.ts';

/** A target that gives no good answer. An answer is good if it does not count against the target (`weightOf`). */
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
  /** Cause for which no calls are sent → since when, Unix milliseconds. */
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
      const { route, status, error, durationMs } = call;
      // Undefined: the bridge ended the call, so there is no result. 0: the target gave a good answer, which may be a 429.
      const weight = weightOf(call);
      if (weight === undefined) return;
      if (weight === 0) noteAnswer(status);
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
     * Records whether calls are stopped for a cause, so that all readers in this process see the same start.
     * @returns start of the stop, Unix milliseconds; undefined: calls are not stopped
     */
    noteStop: (cause: 'failing' | 'waiting', isStopped: boolean): number | undefined => {
      if (!isStopped) stops.delete(cause);
      else if (!stops.has(cause)) stops.set(cause, clock.now());
      return stops.get(cause);
    },
  };
}

export type TargetWorkMeter = ReturnType<typeof createTargetWork>;

/**
 * Creates the measures of the calls of this process to one target: how many were made, were delayed by the rate limit, and wait.
 * @param queued returns the number of calls that wait for a slot
 * @param limit returns the number of slots
 */
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
    /** Returns the measures since the last read, and starts anew. `busy`: used share of the time of all slots, 0 to 1. */
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

export type Concurrency = ReturnType<typeof createConcurrency>;

const REFUSES_RATE = new Set([TOO_MANY, 503]);
/** Weight of one call in the average latency. */
const WEIGHT = 0.1;
/** The limit falls when the average latency exceeds `times` the best one plus `ms`. */
const SLOWER = { times: 2, ms: 5 };
/** Time after a refusal for which the refused limit is not tried again, because a refusal can pause all calls to the target. */
const REMEMBERED_MS = 60_000;

/**
 * Creates the limit of concurrent calls. It rises while the latency stays, falls by one step when the latency rises, and is halved
 * after a refusal for the rate (429, 503).
 * @param bounds limits of the settings; `start` is the first limit, and a rising latency does not lower the limit below it
 */
export function createConcurrency(bounds: { least: number; start: number; most: number }, clock: Clock) {
  const { start } = bounds;
  // The settings may contradict each other; `start` counts.
  const least = Math.min(bounds.least, start);
  const most = Math.max(bounds.most, start);
  let limit = start;
  let average: number | undefined;
  let best = Number.POSITIVE_INFINITY;
  /** Time at which a refusal last halved the limit. */
  let cutAt = Number.NEGATIVE_INFINITY;
  /** Highest limit, lowered for REMEMBERED_MS after a refusal. */
  let ceiling = most;
  /** Number of successful calls that count towards the next rise of the limit. */
  let good = 0;

  function halve(startedAt: number): void {
    // Calls that started before the last cut ran with the old limit, so their refusals count once.
    if (startedAt < cutAt) return;
    cutAt = clock.now();
    ceiling = Math.max(start, limit - 1);
    limit = Math.max(least, Math.floor(limit / 2));
    good = 0;
  }

  /** Adds a latency to the average. @returns whether the platform has become slower */
  function noteLatency(durationMs: number): boolean {
    average = average === undefined ? durationMs : average + WEIGHT * (durationMs - average);
    // Up to `start` the present average is the reference, so that a platform that became permanently slower gets a
    // new reference.
    best = limit <= start ? average : Math.min(average, best);
    return average > SLOWER.times * best + SLOWER.ms;
  }

  return {
    limit: (): number => limit,
    /** Adapts the limit after a call. @param isShort whether calls waited for a slot, and not for the rate limit */
    ended: ({ status, durationMs }: Pick<PlatformCall, 'status' | 'durationMs'>, isShort: boolean): void => {
      if (REFUSES_RATE.has(status)) return halve(clock.now() - durationMs);
      // Only the latency of a success tells how busy the platform is.
      if (status < 200 || status >= 300) return;
      const isSlower = noteLatency(durationMs);
      // A higher limit helps only if calls waited for a slot. Below the start it rises again in any case.
      if (!isShort && limit >= start) return;
      // The limit changes by 1 after as many successes as it allows concurrent calls.
      if (++good < limit) return;
      good = 0;
      const top = clock.now() < cutAt + REMEMBERED_MS ? ceiling : most;
      if (!isSlower || limit < start) limit = Math.min(top, limit + 1);
      else limit = Math.max(start, limit - 1);
    },
  };
}
