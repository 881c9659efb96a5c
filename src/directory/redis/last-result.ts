// Stores the last result of a check as JSON.
import type { Redis } from 'ioredis';

export function createLastResult<Result>(redis: Redis, key: string) {
  return {
    keep: async (result: Result): Promise<void> => void (await redis.set(key, JSON.stringify(result))),
    /** Returns the last result; undefined before the first one or when it is damaged. */
    last: async (): Promise<Result | undefined> => {
      const text = await redis.get(key);
      try {
        return text === null ? undefined : (JSON.parse(text) as Result);
      } catch {
        return undefined;
      }
    },
  };
}
