// Finds the renames that the rename of one user waits for, because somebody gave the userName to another user's account.
import type { Ref } from '../../directory/records.ts';
import { LONGEST_CIRCLE } from '../../sync/names/name-circle.ts';
import { isDrift, type PlanEntry } from '../entry.ts';
import type { ScanResult } from '../scope.ts';
import { accountsNamed } from './namesake.ts';
import { newNameIn, withTakenName } from './taken-renames.ts';
import { verifyUsers } from './verify-users.ts';

/**
 * Returns the renames of other accounts that the rename in `entries` waits for: somebody gave the wanted userName to another
 * account. The rename of that account may wait for a further one, at most LONGEST_CIRCLE in all. A pushed rename is left out: the
 * user has a mark.
 * @param entries of one user
 * @returns null when the platform could not be read
 */
export async function renamesOfHolders(
  scan: ScanResult,
  entries: readonly PlanEntry[],
): Promise<PlanEntry[] | null> {
  const passed = new Set<Ref | null>(entries.map(({ ref }) => ref));
  const renames: PlanEntry[] = [];
  let [rename] = entries.filter((entry) => newNameIn(entry) !== undefined);
  while (rename && renames.length < LONGEST_CIRCLE) {
    const name = newNameIn(rename) ?? '';
    const accounts = await accountsNamed(scan, name);
    if (accounts === 'unknown') return null;
    const [holder] = accounts.flatMap((account) => account?.former ?? []);
    if (!holder || passed.has(holder)) return renames;
    passed.add(holder);
    const [verified] = await verifyUsers(scan, [holder], { withValues: () => false });
    const own = await withTakenName(scan, verified?.entries ?? []);
    rename = own?.find((entry) => newNameIn(entry) !== undefined && isDrift(entry));
    if (rename) renames.push({ ...rename, reason: `${rename.reason}: the account has the userName ${name}` });
  }
  return renames;
}
