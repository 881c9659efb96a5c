// Counts the readers of whole logs. While there is one, no entry of a log is removed, so that the reader finds no gap in the
// hash chain (lua/log.lua).
import type { StoreDeps } from '../redis/scripts.ts';

/** Longest time between two portions. A reader that was killed counts for this time. */
const LONGEST_MS = 60_000;

export type WholeRead = Awaited<ReturnType<typeof beginWholeRead>>;

/** Adds a reader, such as a backup or a check of the hash chain. No entry of a log is removed until its `end`. */
export async function beginWholeRead({ redis, keys }: StoreDeps) {
  const readers = keys.key('logReaders');
  await redis.multi().incr(readers).pexpire(readers, LONGEST_MS).exec();
  return {
    /** The reader calls `renew` after each portion. */
    renew: async (): Promise<void> => {
      await redis.pexpire(readers, LONGEST_MS);
    },
    end: async (): Promise<void> => {
      await redis.multi().decr(readers).pexpire(readers, LONGEST_MS).exec();
    },
  };
}
