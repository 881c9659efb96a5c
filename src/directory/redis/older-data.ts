// Finds out whether Redis came back empty or with older data than this process has seen: from an old snapshot, or after a crash
// without an append-only file.
import { isoTime } from '../../support/sources.ts';
import { OLDER_DATA, OLDER_DATA_HOLDER } from '../guard/operator-hold.ts';
import type { StoreDeps } from './scripts.ts';

/**
 * Largest loss that counts as none: `appendfsync everysec` may lose the pushes of about a second, and processes call `check`
 * every five seconds.
 */
const MOST_LOST_MS = 10_000;

/** `whole`: nothing is lost; `older`: changes are lost, and the targets are held; `empty`: all data of the connection is lost. */
type DataLoss = 'whole' | 'older' | 'empty';

/** @param targets names of the targets of the connection */
export function createOlderData({ scripts, keys }: StoreDeps, targets: readonly string[]) {
  /** Time of Redis at the last call, Unix milliseconds, and the counter `sequence` (keys.ts) then; 0: before the first. */
  let [seen, sequence] = [0, 0];
  return {
    /** Compares the data with the last call of this process. @returns `until`: after a loss, the end of the lost time */
    check: async (): Promise<{ loss: DataLoss; until: string }> => {
      const until = isoTime(seen);
      const note = `${OLDER_DATA}, and changes up to ${until} are lost: run a full cycle of the identity provider, or restore a backup, and look at scim-bridge plan (docs/redis.md)`;
      const args = { targets, seen, sequence, mostLostMs: MOST_LOST_MS, by: OLDER_DATA_HOLDER, note };
      const [loss, ...now] = await scripts.run('find_older_data', keys.base, args);
      [seen = 0, sequence = 0] = now.map(Number);
      return { loss: loss as DataLoss, until };
    },
  };
}
