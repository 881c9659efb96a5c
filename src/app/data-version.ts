// Checks the version of the data in Redis at the start of the service and while it runs. The service stops when the data has
// another version, because it could damage such data, and when a restore begins, because the data is incomplete then.
import { createDataVersion, DataVersionRefused, RestoreUnderWay } from '../directory/fleet/data-version.ts';
import { isStoreUnavailable } from '../directory/redis/connection.ts';
import { failureReason } from '../directory/redis/why-away.ts';
import type { Releasers } from '../support/releasers.ts';
import { checkEachBeat } from './each-beat.ts';
import type { AppDeps, Store } from './parts.ts';

export interface WatchedDataVersion {
  /** Resolves with the reason to stop: a newer process has migrated the data to another version, or a restore has begun. */
  refused: Promise<DataVersionRefused | RestoreUnderWay>;
}

/**
 * Checks the version of the data. It is no error when Redis does not answer, because the service starts without Redis too and
 * repeats the check (`watchDataVersion`).
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
  const refused = new Promise<DataVersionRefused | RestoreUnderWay>((resolve) => {
    checkEachBeat({ clock, redis, releasers }, 'version of the stored data', () =>
      checkDataVersion(store).catch((error: unknown) => {
        if (error instanceof DataVersionRefused || error instanceof RestoreUnderWay) resolve(error);
        else logger.warn({ reason: failureReason(error) }, 'version of the stored data not checked');
      }),
    );
  });
  return { refused };
}
