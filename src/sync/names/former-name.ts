// Frees the former userName of a leaver's closed account for another person who is to get it. The userName of the
// account is a former one if it differs from the last userName that the leaver had at the source (`isFormerName`). Two syncs act:
// - The sync of the leaver notes whether the name may be a former one (`noteFormerName`), and gives it up after the closing if
//   another account is to get it (`giveUpFormerName`).
// - The sync of the person who is to get the name makes the leaver's sync due, if that has ended before (`askForFormerName`).
// Flags of the link: directory/outbox/link.ts.
import { fold, parseRef, type Ref } from '../../directory/records.ts';
import { isNeverRenamed, type Link } from '../../directory/outbox/link.ts';
import type { Resource } from '../../scim/index.ts';
import { isGone } from '../calls/failures.ts';
import type { SyncContext } from '../context.ts';
import { linksOfUsers } from '../group/leavers.ts';
import { stepAside } from './name-circle.ts';

/**
 * Notes in the link of a leaver whether the account may have a former userName. Only the first sync after a deletion can tell: a
 * tombstone has no name, only the version.
 */
export function noteFormerName({ link, work }: SyncContext): void {
  const name = link.core?.userName;
  const { record, deletedVersion } = work;
  if (record) {
    if (typeof name === 'string' && isOtherName(record.text, name)) link.hasFormerName = true;
    else delete link.hasFormerName;
    return;
  }
  if (isDeletedUnsynced(link.basis, deletedVersion)) link.hasFormerName = true;
}

/**
 * Returns whether neither the deletion nor the last change before it was synced.
 * @param basis begins with the version that was synced last (lua/basis.lua); after the sync of the deletion it is 0
 */
function isDeletedUnsynced(basis = '0', deletedVersion?: number): boolean {
  const synced = Number.parseInt(basis, 10);
  return deletedVersion !== undefined && synced !== 0 && synced !== deletedVersion;
}

/**
 * Gives the closed account of a leaver a temporary userName if its name is a former one that the source wants for another account.
 * Otherwise the account keeps its name.
 */
export async function giveUpFormerName(context: SyncContext): Promise<void> {
  const { directory, link, links, target, work } = context;
  const name = link.core?.userName;
  if (target.policy.policy !== 'sync' || typeof name !== 'string' || !link.hasFormerName) return;
  const heirs = ((await directory.lookup('User', 'username', name)) ?? []).filter((id) => id !== work.id);
  // A user without account who gets the name takes this account over.
  const accounts = await linksOfUsers({ links, target }, heirs);
  if (!accounts.some(({ id, departed }) => id !== undefined && !departed)) return;
  try {
    await stepAside(context, name);
    delete link.hasFormerName;
  } catch (error) {
    // The account is gone, so the name is free.
    if (!isGone(error)) throw error;
  }
}

/**
 * Marks a leaver whose account still has a former userName, so that the leaver's next sync gives the name up (`giveUpFormerName`)
 * and the person of this sync can get it. Nothing else would start that sync. The leaver is marked once per name (`askedForName` in
 * the link of this person), because that sync may be refused. A leaver with a held change, a dead letter or a mark is not marked:
 * the decision, the retry or the pending sync comes first.
 */
export async function askForFormerName(
  { directory, link: asking, outbox, target, work }: SyncContext,
  { ref, link }: { ref: Ref; link: Link },
): Promise<void> {
  const userName = String(link.core?.userName);
  const wasAsked = asking.askedForName === userName;
  const mayFreeNames =
    target.policy.policy === 'sync' && isNeverRenamed(link) && link.condition?.reason !== 'Protected';
  if (wasAsked || !mayFreeNames || (await isAwaitingOther(outbox, ref))) return;
  if (!(await isFormerName(directory, ref, { ...link, userName }))) return;
  asking.askedForName = userName;
  await outbox.mark([ref], 'edit', work.request);
}

/** Returns whether a decision about the leaver, the retry of a dead letter or a pending sync comes first. */
async function isAwaitingOther(
  { guardStore, isAtRest }: Pick<SyncContext['outbox'], 'guardStore' | 'isAtRest'>,
  leaver: Ref,
): Promise<boolean> {
  const held = await guardStore.areHeld([
    { kind: 'deactivate', ref: leaver },
    { kind: 'delete', ref: leaver },
  ]);
  return held.includes(true) || !(await isAtRest(leaver));
}

/**
 * Returns whether the userName of a leaver's account is a former one, which the sync of the leaver gives up when the account is
 * closed.
 * @param account `hasFormerName` and `basis` as in the link, which count if the leaver has no record
 */
export async function isFormerName(
  directory: SyncContext['directory'],
  leaver: Ref,
  {
    userName,
    hasFormerName,
    basis,
  }: { userName: string; hasFormerName?: true | undefined; basis?: string | undefined },
): Promise<boolean> {
  const { id } = parseRef(leaver);
  const record = await directory.get('User', id);
  // A person out of scope may have been renamed since the closing.
  if (record) return isOtherName(record.text, userName);
  return hasFormerName === true || isDeletedUnsynced(basis, (await directory.tombstone(id))?.version);
}

/** Returns whether the record has another userName. A damaged record tells none. */
const isOtherName = (text: string, name: string): boolean =>
  text !== '' && fold(String((JSON.parse(text) as Resource).userName)) !== fold(name);
