// Whether the account that is about to be closed is the last active administrator of its platform. Groups say nothing
// about that: a group mapping gives every role but Admin, and what it gave is never taken back (contract 12.6).
import { fold } from '../directory/records.ts';
import { EndpointAbsent, IncompleteList, PlatformError, PlatformResponse } from '../platform/errors.ts';
import type { ConsoleUser } from '../platform/wire.ts';
import type { SyncContext } from './context.ts';
import type { Why } from './provisioning-writer.ts';

/** `unknown`: the platform does not say, and nothing speaks for an administrator. */
export type AdministratorState = 'replaceable' | 'last' | 'unknown';

/** Told with the deactivation of somebody whose standing is unknown. */
export const UNCHECKED: Why = {
  reason: 'AdministratorsNotChecked',
  message:
    'closed although the platform did not say whether another active administrator is left; this account was never ' +
    'seen as one',
};

/** A leaver waits no longer for an answer about administrators. */
const PATIENCE_MS = 2000;

/**
 * Asked after the guard has counted the deactivation, so that two workers who close two administrators see each other.
 * Costs nothing where the key belongs to an administrator: that account is never touched, so one always remains. Else
 * one read tells of most people that they are none, and a run of leavers shares what was seen. A list that fails delays
 * only those who are known as administrators.
 * @throws what the platform client throws when such a person has to wait for it
 */
export async function administratorStateOf(context: SyncContext): Promise<AdministratorState> {
  const { administrators, catalogue } = context.target;
  const hurried = { ...context.call, timeoutMs: PATIENCE_MS };
  const isKnown = isKnownAdministrator(context);
  try {
    if (await catalogue.isOwnedByAdministrator(hurried)) return 'replaceable';
    const leaving = await leavers(context);
    if (administrators.remainsWithout(leaving)) return 'replaceable';
    if (administrators.isSilent() && !isKnown) return 'unknown';
    return await ask(context, hurried, leaving);
  } catch (error) {
    if (!(error instanceof PlatformError) || context.call.signal.aborted) throw error;
    administrators.noteSilence();
    // The answer itself may have said so before the next question failed.
    if (isKnown || isKnownAdministrator(context)) throw error;
    return 'unknown';
  } finally {
    // Kept beyond this process, for the day on which the list is silent.
    if (administrators.knows(nameOf(context))) context.link.isAdministrator = true;
  }
}

async function ask(
  context: SyncContext,
  hurried: SyncContext['call'],
  leaving: ReadonlySet<string>,
): Promise<AdministratorState> {
  const { link, target, call } = context;
  const { administrators, policy } = target;
  const closing = nameOf(context);
  // One look at the list often shows somebody who stays, and answers for all who leave in this moment.
  const look = async () => (await target.client.accounts.firstPage(hurried).catch(unlessAbsent)) ?? [];
  await administrators.lookAround(look);
  if (administrators.remainsWithout(leaving)) return 'replaceable';
  const own = await accountsLike(context, closing, hurried);
  if (own === undefined) {
    administrators.noteSilence();
    return isKnownAdministrator(context) ? 'last' : 'unknown';
  }
  const isAdministrator = own.some(
    (account) => account.isAdmin && (account.id === link.account || fold(account.username) === closing),
  );
  if (!isAdministrator) return 'replaceable';
  // Protected accounts are looked up by name, whatever the size of the tenant.
  for (const text of [...policy.users.protected, '']) {
    await accountsLike(context, text, call);
    if (administrators.remainsWithout(leaving)) return 'replaceable';
  }
  return 'last';
}

const nameOf = ({ link }: SyncContext): string => fold(String(link.core?.userName ?? ''));

/** Evidence of an administrator: a recent answer, an older one, or a change that the guard holds already. */
const isKnownAdministrator = (context: SyncContext): boolean =>
  context.target.administrators.knows(nameOf(context)) ||
  context.link.isAdministrator === true ||
  context.link.condition?.reason === 'LastAdministrator';

/** Names of all who are on their way out, this one included: nobody may count on them. */
async function leavers(context: SyncContext): Promise<ReadonlySet<string>> {
  const { links, outbox, target, work } = context;
  const refs = (await outbox.guardStore.leavers()).filter((ref) => ref !== work.ref);
  const found = await links.getMany(target.name, refs);
  return new Set([nameOf(context), ...found.map(({ core }) => fold(String(core?.userName ?? '')))]);
}

/** @returns undefined when the tenant has no list of users, or one that is too long to be read for this */
async function accountsLike(
  { target }: SyncContext,
  text: string,
  call: SyncContext['call'],
): Promise<ConsoleUser[] | undefined> {
  const found = await target.client.accounts.search(text, call).catch(unlessAbsent);
  if (found) target.administrators.see(found);
  return found;
}

function unlessAbsent(error: unknown): undefined {
  const absent = error instanceof PlatformResponse && [400, 403, 404].includes(error.status);
  if (absent || error instanceof EndpointAbsent || error instanceof IncompleteList) return undefined;
  throw error;
}
