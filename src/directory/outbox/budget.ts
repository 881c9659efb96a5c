// The request budget of a target, shared by all replicas through Redis.
import type { Redis } from 'ioredis';
import type { Clock } from '../../support/sources.ts';
import { createKeyspace } from '../keys.ts';
import type { Scripts } from '../redis/scripts.ts';
import { createPauses, type Pause } from './pause.ts';

export type Budget = ReturnType<typeof createBudget>;

/** Longest sleep of a waiting request before it checks the pause again. */
const CHECK_MS = 500;

export function createBudget(
  deps: {
    redis: Redis;
    scripts: Scripts;
    clock: Clock;
    /** Called with whether calls have failed recently (breaker.ts). */
    onFailing?: (failing: boolean) => void;
    /** Called with every wait in milliseconds, including 0. */
    onWait?: ((waitMs: number) => void) | undefined;
  },
  options: { prefix: string; target: string; requestsPerSecond: number; burst: number },
) {
  const { redis, scripts, clock, onFailing, onWait } = deps;
  const keys = createKeyspace(options.prefix, `target.${options.target}`);
  const pauses = createPauses(redis, options);
  const args = { target: options.target, intervalMs: 1000 / options.requestsPerSecond, burst: options.burst };

  /**
   * Resolves when one request may be sent; waits for the bucket, for a pause and for the breaker.
   * @returns the time that it waited, milliseconds
   */
  async function take(signal?: AbortSignal): Promise<number> {
    let waitedMs = 0;
    for (;;) {
      signal?.throwIfAborted();
      const [tag, wait, failing] = await scripts.run('take_budget', keys.base, args);
      const waitMs = Number(wait);
      const sleepMs = tag === 'taken' ? waitMs : Math.min(waitMs, CHECK_MS);
      if (sleepMs > 0) await clock.sleep(sleepMs, signal);
      waitedMs += sleepMs;
      if (tag !== 'taken') continue;
      onFailing?.(failing === 1);
      break;
    }
    signal?.throwIfAborted();
    onWait?.(waitedMs);
    return waitedMs;
  }

  return {
    take,
    /** Pauses all requests of all replicas to this target for `ms`. */
    pause: (ms: number, cause: Omit<Pause, 'until'>): Promise<void> => pauses.set(clock, ms, cause),
    /** Ends a pause after a refused key, so that the key is tried at once. */
    tryKey: pauses.endForKey,
  };
}
