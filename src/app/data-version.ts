// Checks the version of the data in Redis at the start of the service and while it runs.
import { createDataVersion, DataVersionRefused, RestoreUnderWay } from '../directory/fleet/data-version.ts';
import { BEAT_MS } from '../directory/fleet/fleet-store.ts';
import { isStoreUnavailable } from '../directory/redis/connection.ts';
import type { Releasers } from '../support/releasers.ts';
import type { AppDeps, Store } from './parts.ts';

export interface WatchedDataVersion {
  /** Resolves with the reason to stop: a newer process has migrated the data to another version, or a restore has begun. */
  refused: Promise<DataVersionRefused | RestoreUnderWay>;
}

/**
 * Checks the version of the data; no error when Redis does not answer.
 * @throws DataVersionRefused for another version; RestoreUnderWay while a backup is put back
 */
export async function checkDataVersion({ redis, config }: Pick<Store, 'redis' | 'config'>): Promise<void> {
  await createDataVersion({ redis }, config.redis)
    .check()
    .catch((error: unknown) => {
      if (!isStoreUnavailable(error)) throw error;
    });
}

/**
 * Checks the version now, then after each new connection to Redis and every five seconds, until the service stops.
 * @throws for the first check, as `checkDataVersion`; later refusals resolve `refused`
 */
export async function watchDataVersion(
  { clock, logger }: AppDeps,
  store: Pick<Store, 'redis' | 'config'>,
  releasers: Releasers,
): Promise<WatchedDataVersion> {
  const { redis } = store;
  await checkDataVersion(store);
  const stopping = new AbortController();
  const refused = new Promise<DataVersionRefused | RestoreUnderWay>((resolve) => {
    const onError = (error: unknown): void => {
      if (error instanceof DataVersionRefused || error instanceof RestoreUnderWay) resolve(error);
      else logger.warn({ reason: (error as Error).message }, 'version of the stored data not checked');
    };
    const check = (): Promise<void> => checkDataVersion(store).catch(onError);
    const onReady = (): void => void check();
    redis.on('ready', onReady);
    releasers.add('version of the stored data', () => {
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
  });
  return { refused };
}
