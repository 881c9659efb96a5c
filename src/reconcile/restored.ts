// Reads the last restore of a connection. After a restore the bridge no longer knows what it wrote between backup and
// restore.
import type { Acts } from '../directory/logs/acts.ts';

/** The last restore of a connection. */
export interface Restored {
  /** Time of the restore, Unix milliseconds. */
  at: number;
  /** Time of the backup, Unix milliseconds; undefined: the audit entry does not contain it. */
  backupAt?: number;
}

/** Returns the last restore that the audit log knows; undefined: there was none. */
export async function readRestored(acts: Pick<Acts, 'search'>): Promise<Restored | undefined> {
  // The search is newest first.
  for await (const { entries } of acts.search({}, ({ act }) => act === 'restore')) {
    const [last] = entries;
    if (!last) continue;
    const backupAt = Date.parse(/^backup of ([^\s,]+)/.exec(last.subject ?? '')?.[1] ?? '');
    return { at: last.at, ...(Number.isNaN(backupAt) ? {} : { backupAt }) };
  }
  return undefined;
}

/** Returns the words for the time of the backup: `the backup of TIME`. */
export const backupText = ({ backupAt }: Restored): string =>
  backupAt === undefined ? 'the backup' : `the backup of ${new Date(backupAt).toISOString()}`;
