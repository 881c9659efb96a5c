// Repeats a check of the data in Redis while the service runs.
import type { Redis } from 'ioredis';
import { BEAT_MS } from '../directory/fleet/fleet-store.ts';
import type { Releasers } from '../support/releasers.ts';
import type { AppDeps } from './parts.ts';

/** Runs a check after each new connection to Redis and every five seconds, until the service stops. @param check never rejects */
export function checkEachBeat(
  { clock, redis, releasers }: Pick<AppDeps, 'clock'> & { redis: Redis; releasers: Releasers },
  name: string,
  check: () => Promise<void>,
): void {
  const stopping = new AbortController();
  const onReady = (): void => void check();
  redis.on('ready', onReady);
  releasers.add(name, () => {
    stopping.abort();
    redis.off('ready', onReady);
  });
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await clock.sleep(BEAT_MS, stopping.signal);
      if (!stopping.signal.aborted) await check();
    }
  };
  void run();
}
