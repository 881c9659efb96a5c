// The request budget of a target, shared by all replicas through Redis.
import type { Redis } from 'ioredis';
import type { Clock } from '../support/clock.ts';
import { createKeyspace } from './keys.ts';
import type { Scripts } from './scripts.ts';

export type Budget = ReturnType<typeof createBudget>;

export function createBudget(
  deps: { redis: Redis; scripts: Scripts; clock: Clock },
  options: { prefix: string; target: string; requestsPerSecond: number; burst: number },
) {
  const { redis, scripts, clock } = deps;
  const keys = createKeyspace(options.prefix, `target.${options.target}`);
  const args = { target: options.target, intervalMs: 1000 / options.requestsPerSecond, burst: options.burst };

  /** Resolves when one request may be sent; waits for the bucket and for a pause the platform asked for. */
  async function take(signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const [tag, wait] = await scripts.run('take_budget', keys.base, args);
      const waitMs = Number(wait);
      if (waitMs > 0) await clock.sleep(tag === 'taken' ? waitMs : Math.min(waitMs, 1000), signal);
      if (tag === 'taken') break;
    }
    signal?.throwIfAborted();
  }

  /** No request to this target from any replica for `ms` (429 or 503 with Retry-After). */
  async function pause(ms: number): Promise<void> {
    const until = Math.ceil(ms);
    if (until <= 0 || (await redis.pttl(keys.key('paused', options.target))) >= until) return;
    await redis.set(keys.key('paused', options.target), '1', 'PX', until);
  }

  return { take, pause };
}
