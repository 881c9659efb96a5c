// Stores the pause of all calls to a target with its cause, shared by all replicas through Redis. take_budget.lua obeys it.
import type { Redis } from 'ioredis';
import type { Clock } from '../../support/sources.ts';
import { createKeyspace } from '../keys.ts';

export interface Pause {
  /** Unix milliseconds at which calls go on. */
  until: number;
  /** Status of the answer that caused the pause. */
  status: number;
  /** Whether the platform asked for the pause by Retry-After; false: the bridge chose its length. */
  asked: boolean;
}

const REFUSED_KEY = 401;

/** Returns whether the bridge pauses because the platform refused the key. */
export const isForKey = (pause: Pause | undefined): boolean => pause?.status === REFUSED_KEY;

export type Pauses = ReturnType<typeof createPauses>;

export function createPauses(redis: Redis, options: { prefix: string; target: string }) {
  const key = createKeyspace(options.prefix, `target.${options.target}`).key('paused', options.target);

  /** Pauses all requests of all replicas for `ms`, unless a longer pause runs. */
  async function set(clock: Clock, ms: number, cause: Omit<Pause, 'until'>): Promise<void> {
    const length = Math.ceil(ms);
    if (length <= 0 || (await redis.pttl(key)) >= length) return;
    const pause: Pause = { until: clock.now() + length, ...cause };
    await redis.set(key, JSON.stringify(pause), 'PX', length);
  }

  const read = async (): Promise<Pause | undefined> => {
    const text = await redis.get(key);
    return text === null ? undefined : (JSON.parse(text) as Pause);
  };

  /** Ends a pause after a refused key, so that a new key is tried at once. */
  async function endForKey(): Promise<void> {
    if (isForKey(await read())) await redis.del(key);
  }

  return { set, read, endForKey };
}
