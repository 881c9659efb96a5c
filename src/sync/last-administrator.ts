// Whether the account that is about to be closed is the last active administrator of its platform. Groups say nothing
// about that: a group mapping gives every role but Admin, and what it gave is never taken back (contract 12.6).
import { fold } from '../directory/records.ts';
import { anotherRemains, type Account } from '../guard/administrators.ts';
import { EndpointAbsent, IncompleteList, PlatformResponse } from '../platform/errors.ts';
import type { ConsoleUser } from '../platform/wire.ts';
import type { SyncContext } from './context.ts';

/**
 * Asked after the guard has counted the deactivation, so that two workers who close two administrators see each other.
 * Costs nothing where the key belongs to an administrator: that account is never touched, so one always remains. Without
 * a list of users nobody can tell, and the platform's own refusal has to do.
 * @throws what the platform client throws when it may go better next time
 */
export async function isLastAdministrator(context: SyncContext): Promise<boolean> {
  const { target, call, link, links, outbox } = context;
  if (await target.catalogue.isOwnedByAdministrator(call.signal)) return false;
  const closing = fold(String(link.core?.userName ?? ''));
  const own = await accountsLike(context, closing);
  const isAdministrator = own?.some(
    (account) => account.isAdmin && (account.id === link.account || fold(account.username) === closing),
  );
  if (!isAdministrator) return false;
  const refs = (await outbox.staging.leavers()).filter((ref) => ref !== context.work.ref);
  const leavers = await links.getMany(target.name, refs);
  const leaving = new Set(leavers.map(({ core }) => fold(String(core?.userName ?? ''))));
  // Who is protected is found by name, however many people the tenant has.
  for (const text of [...target.policy.users.protected, '']) {
    const found = (await accountsLike(context, text)) ?? [];
    if (anotherRemains(found.map(toAccount), closing, leaving)) return false;
  }
  return true;
}

const toAccount = ({ username, isAdmin, isDeactivated }: ConsoleUser): Account => ({
  userName: fold(username),
  isAdministrator: isAdmin,
  isActive: isDeactivated !== true,
});

/** @returns undefined when the tenant has no list of users, or one that is too long to be read for this */
async function accountsLike({ target, call }: SyncContext, text: string): Promise<ConsoleUser[] | undefined> {
  try {
    return await target.client.accounts.search(text, call);
  } catch (error) {
    const absent = error instanceof PlatformResponse && [400, 403, 404].includes(error.status);
    if (absent || error instanceof EndpointAbsent || error instanceof IncompleteList) return undefined;
    throw error;
  }
}
