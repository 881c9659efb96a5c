// Stores the result of the last check of the hash chains of a connection.
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';

/** Result for one log. */
export interface LogCheck {
  /** `acts`, or `log <target>`. */
  log: string;
  entries: number;
  /** Id of the first entry that does not fit, or `the end`; null when the chain is whole. */
  broken: string | null;
}

export interface LastLogCheck {
  /** Unix milliseconds. */
  at: number;
  checks: LogCheck[];
}

export type LastLogChecks = ReturnType<typeof createLastLogChecks>;

export function createLastLogChecks({ redis, keys }: { redis: Redis; keys: Keyspace }) {
  const key = keys.key('logChecks');

  const keep = async (check: LastLogCheck): Promise<void> => {
    await redis.set(key, JSON.stringify(check));
  };

  /** Returns the last result; undefined before the first check or when it is damaged. */
  const last = async (): Promise<LastLogCheck | undefined> => {
    const text = await redis.get(key);
    try {
      return text === null ? undefined : (JSON.parse(text) as LastLogCheck);
    } catch {
      return undefined;
    }
  };

  return { keep, last };
}
