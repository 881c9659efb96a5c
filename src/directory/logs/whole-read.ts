// Keeps the set of readers of whole logs. While there is one, no entry of a log is removed, so that the reader finds no gap in the
// hash chain (lua/log.lua).
import { randomUUID } from 'node:crypto';
import type { StoreDeps } from '../redis/scripts.ts';

/** Time after which the readers no longer count unless one of them renews it, such as when their processes were killed. */
const EXPIRY_MS = 60_000;
const RENEW_MS = 5_000;

/**
 * Adds a reader, such as a backup or a check of the hash chain. No entry of a log is removed until its end, also while the reader
 * waits for a slow consumer.
 * @returns the function that removes the reader
 */
export async function beginWholeRead({ redis, keys }: StoreDeps): Promise<() => Promise<void>> {
  const readers = keys.key('wholeReads');
  const id = randomUUID();
  const renew = () => redis.multi().sadd(readers, id).pexpire(readers, EXPIRY_MS).exec();
  await renew();
  // A renewal that fails is not reported: while Redis is away, the reader fails as well.
  const renewing = setInterval(() => void renew().catch(() => undefined), RENEW_MS).unref();
  return async () => {
    clearInterval(renewing);
    await redis.srem(readers, id);
  };
}
