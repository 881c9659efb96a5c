// Measures the calls of this process to one target between two reads: whether they wait for the rate limit, for a slot, or for
// answers.
import type { TargetWork } from '../../directory/fleet/fleet-store.ts';
import type { Clock } from '../../support/sources.ts';

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
