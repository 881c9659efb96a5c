// Repeats a check of the data in Redis while the service runs.
import type { Redis } from 'ioredis';
import { BEAT_MS } from '../directory/fleet/fleet-store.ts';
import type { Releasers } from '../support/releasers.ts';
import { startRounds } from '../support/rounds.ts';
import type { AppDeps } from './parts.ts';

/**
 * Runs a check until the service stops: after each new connection to Redis, because other data may be there then, and every
 * BEAT_MS, because the data may also change while a connection is open.
 * @param name names the check in the log if its stop fails
 * @param check never rejects
 */
export function checkEachBeat(
  { clock, redis, releasers }: Pick<AppDeps, 'clock'> & { redis: Redis; releasers: Releasers },
  name: string,
  check: () => Promise<void>,
): void {
  const onReady = (): void => void check();
  redis.on('ready', onReady);
  const round = async (): Promise<number> => {
    await check();
    return BEAT_MS;
  };
  const stop = startRounds(clock, round, BEAT_MS);
  releasers.add(name, () => {
    void stop();
    redis.off('ready', onReady);
  });
}
