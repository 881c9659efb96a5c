// Stores by which mapping rules a reconcile run last mapped all users, so that the next run knows whether it has to map all of
// them. `mapped:<target>` has the digest of these rules, or a note that the next run has to map everything: it begins with
// REPAIRED, ANEW or RETURNED (note_anew.lua). A run that has mapped all users replaces the text by the digest of its rules, unless
// the text has changed since the run began.
import type { StoreDeps } from '../redis/scripts.ts';

/** After a repair of derived data: the next run maps and reads everything. */
export const REPAIRED = 'repaired';
/** Resources may have been synced by other rules. */
const ANEW = 'anew';
/** The target came back into the settings, and no run has compared it since. */
const RETURNED = 'returned';

export const isRepaired = (mappedBy: string | undefined): boolean => mappedBy?.startsWith(REPAIRED) ?? false;
export const isReturned = (mappedBy: string | undefined): boolean => mappedBy?.startsWith(RETURNED) ?? false;
export const isAnew = (mappedBy: string | undefined): boolean =>
  mappedBy?.startsWith(ANEW) === true || isReturned(mappedBy);

export function createMappedBy({ redis, scripts, keys }: StoreDeps, { target }: { target: string }) {
  /** Returns the stored text, a digest or a note; undefined before the first complete run. */
  const mappedBy = async (): Promise<string | undefined> =>
    (await redis.get(keys.key('mapped', target))) ?? undefined;

  /**
   * Stores the digest of the rules by which all users were mapped.
   * @param before result of `mappedBy` when the run began
   * @returns false: another process noted meanwhile that one more run is needed
   */
  async function noteMapped(digest: string, before: string | undefined): Promise<boolean> {
    const [tag] = await scripts.run('note_mapped', keys.base, { target, digest, before });
    return tag === 'noted';
  }

  /** Stores that the next run maps everything. */
  const noteAnew = async (): Promise<void> => {
    await scripts.run('note_anew', keys.base, { target });
  };

  return { mappedBy, noteMapped, noteAnew };
}
