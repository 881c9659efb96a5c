// Stores the version of the data in Redis, so that an older program does not write into the data of a newer one. Also stores
// whether a restore is under way, so that no program works with incomplete data.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';
import { ignoreStoreUnavailable } from '../redis/connection.ts';
import { createProcessLease, type ProcessLease } from '../redis/lease.ts';
import type { Scripts } from '../redis/scripts.ts';
import { storeRefusalOf, takePulse } from '../redis/store-health.ts';

/** Version of the data that this program reads and writes (docs/versions.md). Data without a version has version 1. */
export const DATA_VERSION = 1;

/** Thrown when the data in Redis has a version that this program must not work with. */
export class DataVersionRefused extends Error {
  override name = 'DataVersionRefused';
}

/** Thrown while a restore is under way, and after a restore that was broken off. */
export class RestoreUnderWay extends Error {
  override name = 'RestoreUnderWay';
}

export type DataVersion = ReturnType<typeof createDataVersion>;

export function createDataVersion({ redis }: { redis: Redis }, { prefix }: { prefix: string }) {
  const keys = createKeyspace(prefix, 'bridge.fleet');
  const [key, restoring] = [keys.key('dataVersion'), keys.key('restoring')];

  /**
   * Compares the stored version with DATA_VERSION, and stores DATA_VERSION if there is none.
   * @param options.forRestore the caller is a restore, which may repeat a restore that was broken off
   * @throws DataVersionRefused or RestoreUnderWay, with a message that says what to do
   */
  async function check({ forRestore = false }: { forRestore?: boolean } = {}): Promise<void> {
    const [stored = null, note] = await redis.mget(key, restoring);
    const [restoredSince] = note?.split(' ') ?? [];
    const fault = stored === null ? undefined : dataVersionFault(stored, DATA_VERSION);
    if (fault !== undefined) throw new DataVersionRefused(fault);
    if (restoredSince && !forRestore)
      throw new RestoreUnderWay(
        `A restore began at ${restoredSince} and has not ended: wait for its end. If it was broken off, the data may not be whole: restore again, with --replace (docs/restore.md).`,
      );
    if (stored !== null) return;
    // The client ends its connection to a replica that refuses a write, so later commands could not tell that it is one.
    const refusal = storeRefusalOf(await takePulse(redis));
    // Without the version, the next check stores it.
    if (!refusal) await redis.setnx(key, String(DATA_VERSION)).catch(ignoreStoreUnavailable);
  }

  return {
    check,
    /**
     * Makes `check` refuse the data to all programs but a restore, until `endRestore`, with a note that has this restore's own value.
     * @param restore.time start of the restore, for the message
     * @returns false when the data was refused already, because an earlier restore has not ended
     */
    beginRestore: async (restore: StartedRestore): Promise<boolean> =>
      (await redis.getset(restoring, noteOf(restore))) === null,
    /** Also ends the finding that Redis came back empty (fleet-store.ts). */
    endRestore: async (): Promise<void> => void (await redis.del(restoring, keys.key('emptied'))),
  };
}

/** A restore that has begun. `owner`: unique name, without spaces. `time`: ISO 8601. */
export interface StartedRestore {
  time: string;
  owner: string;
}

const noteOf = ({ time, owner }: StartedRestore): string => `${time} ${owner}`;

/** Returns a function that removes the note of a restore that changed nothing, unless another restore has replaced the note. */
export function createRestoreWithdrawal(
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  { prefix }: { prefix: string },
): (restore: StartedRestore) => Promise<void> {
  const keys = createKeyspace(prefix, 'bridge.fleet');
  const { resign } = createProcessLease({ redis, scripts, keys }, 'restoring');
  return (restore) => resign(noteOf(restore));
}

/** Returns the lease of the only restore that runs. */
export const createRestoreLease = (
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  { prefix }: { prefix: string },
): ProcessLease =>
  createProcessLease({ redis, scripts, keys: createKeyspace(prefix, 'bridge.fleet') }, 'restoreLease');

/**
 * Returns why a program that knows the version `known` must not work with data of the version `stored`, and what to do;
 * undefined when both are equal.
 */
export function dataVersionFault(stored: string, known: number): string | undefined {
  const version = /^[1-9]\d{0,8}$/.test(stored) ? Number(stored) : undefined;
  if (version === known) return undefined;
  if (version === undefined)
    return 'The version of the data in Redis is no number: restore a backup into an empty Redis (docs/versions.md).';
  const difference = `The data in Redis has version ${version}, and this scim-bridge knows version ${known}`;
  return version > known
    ? `${difference}: start the newer scim-bridge that wrote it, or restore a backup of this version into an empty Redis (docs/versions.md).`
    : `${difference} without a way from ${version} to ${known}: update step by step through the releases that CHANGELOG.md names (docs/versions.md).`;
}
