// Frees the userName of a closed account whose person had another one at the source at last, if somebody else is to get it.
import { fold, refOf } from '../../directory/records.ts';
import type { Resource } from '../../scim/index.ts';
import { isGone } from '../calls/failures.ts';
import type { SyncContext } from '../context.ts';
import { stepAside } from './name-circle.ts';

/**
 * Gives the closed account of a leaver a temporary userName if the source has changed the person since the last sync, so that the
 * account has a former name, and wants this name for another account. Otherwise the account keeps its name.
 */
export async function giveUpFormerName(context: SyncContext): Promise<void> {
  const { directory, link, links, target, work } = context;
  const name = link.core?.userName;
  if (target.policy.policy !== 'sync' || typeof name !== 'string' || !isFormerName(context, name)) return;
  const heirs = ((await directory.lookup('User', 'username', name)) ?? []).filter((id) => id !== work.id);
  // A person without an account takes this one over, by its name.
  const accounts = await links.getMany(
    target.name,
    heirs.map((id) => refOf('User', id)),
  );
  if (!accounts.some(({ id, departed }) => id !== undefined && !departed)) return;
  try {
    await stepAside(context, name);
  } catch (error) {
    // Without an account the name is free.
    if (!isGone(error)) throw error;
  }
}

/** Returns whether the person may have had another userName at the source at last. A tombstone has no name, only the version. */
function isFormerName({ link, work }: SyncContext, name: string): boolean {
  const { record, deletedVersion } = work;
  if (record) return fold(String((JSON.parse(record.text) as Resource).userName)) !== fold(name);
  // The basis begins with the version that was synced last (lua/basis.lua); after the sync of the deletion it is 0.
  const synced = Number.parseInt(link.basis ?? '0', 10);
  return deletedVersion !== undefined && synced !== 0 && synced !== deletedVersion;
}
