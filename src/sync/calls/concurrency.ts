// Limits the concurrent calls of this process to one target, and adapts the limit to how the target answers. The limit rises while
// the latency stays, falls by one step when the latency rises, and is halved after a refusal for the rate (429, 503).
import type { PlatformCall } from '../../platform/client.ts';
import type { Clock } from '../../support/sources.ts';
import { TOO_MANY } from './answering.ts';

export type Concurrency = ReturnType<typeof createConcurrency>;

const REFUSES_RATE = new Set([TOO_MANY, 503]);
/** Weight of one call in the average latency. */
const WEIGHT = 0.1;
/** The limit falls when the average latency exceeds `times` the best one plus `ms`. */
const SLOWER = { times: 2, ms: 5 };
/** Time after a refusal for which the refused limit is not tried again, because a refusal can pause all calls to the target. */
const REMEMBERED_MS = 60_000;

/**
 * Creates the limit of concurrent calls.
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
