// Checks whether an account to be closed is the last active administrator (`administratorStateOf`). Its groups do not show this: a
// group mapping never gives the role Admin, and never takes a role away (contract 12.6). Flow: the owner of the API key, then what
// earlier reads of the process showed, then the user list (`lookUp`). Another administrator counts as remaining only if the SCIM
// account with that userName is none of those that are being closed: somebody may have renamed such an account at the platform.
import { platformIdOf } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import {
  EndpointAbsent,
  IncompleteList,
  PlatformAborted,
  PlatformError,
  PlatformResponse,
} from '../../platform/errors.ts';
import type { ConsoleUser } from '../../platform/wire.ts';
import { isGone } from '../calls/failures.ts';
import type { SyncContext } from '../context.ts';
import type { Why } from '../provisioning-writer.ts';

/**
 * `replaceable`: the account is no administrator, or another active one remains. `last`: no other active administrator was found,
 * or the account is a known administrator and the tenant has no complete user list. `unknown`: the platform does not tell, and the
 * account was never seen as an administrator.
 */
type AdministratorState = 'replaceable' | 'last' | 'unknown';

/** Users whose accounts are being closed, the user of this sync too: folded userNames as last written, and SCIM ids. */
interface Leavers {
  names: Set<string>;
  ids: Set<string>;
}

/** Remark in the log when a deactivation could not be checked. */
export const UNCHECKED: Why = {
  reason: 'AdministratorsNotChecked',
  message:
    'closed although the platform did not say whether another active administrator is left; this account was never ' +
    'seen as one',
};

/** Longest time that a deactivation waits for the check. */
const CHECK_TIMEOUT_MS = 2000;

/**
 * Judges whether another active administrator remains. Runs after the guard has counted the deactivation, so that two workers that
 * close two administrators see each other. If the API key belongs to an administrator, that account always remains, so the user
 * list is not read. Otherwise many deactivations share one read.
 * @throws errors of the platform client for a known administrator; for other accounts a failed list means `unknown`
 */
export async function administratorStateOf(context: SyncContext): Promise<AdministratorState> {
  const { administrators, catalogue } = context.target;
  /** Options of calls with a short timeout. */
  const hurried = { ...context.call, timeoutMs: CHECK_TIMEOUT_MS };
  const isKnown = isKnownAdministrator(context);
  try {
    if (await catalogue.isOwnedByAdministrator()) return 'replaceable';
    if (administrators.isSilent() && !isKnown) return 'unknown';
    const leaving = await leavers(context);
    if (await isAnotherSeen(context, hurried, leaving)) return 'replaceable';
    return await lookUp(context, hurried, leaving);
  } catch (error) {
    // PlatformAborted: this sync ends, or the sync ended that began the shared read; then this sync is tried again.
    // A 404 is about the account itself (`shownName`): it is gone, or a proxy sent the answer.
    const isOver = error instanceof PlatformAborted || context.call.signal.aborted || isGone(error);
    if (!(error instanceof PlatformError) || isOver) throw error;
    administrators.noteSilence();
    // An earlier answer of this check may have shown that the account is an administrator.
    if (isKnown || isKnownAdministrator(context)) throw error;
    return 'unknown';
  } finally {
    // Stored in the link, for the case that the list fails later.
    if (administrators.knows(nameOf(context))) context.link.isAdministrator = true;
  }
}

/** Looks for an administrator in the user list: on its first page, by the account's own name, and in the whole list. */
async function lookUp(
  context: SyncContext,
  hurried: SyncContext['call'],
  leaving: Leavers,
): Promise<AdministratorState> {
  const { target, call } = context;
  const { administrators, policy } = target;
  // The first page often shows another administrator. Then no other page is read, for any of the current deactivations.
  const readFirstPage = async () =>
    (await target.client.accounts.firstPage(hurried).catch(unlessAbsent)) ?? [];
  await administrators.awaitSharedRead(readFirstPage);
  if (await isAnotherSeen(context, hurried, leaving)) return 'replaceable';
  let own = await ownAccount(context, nameOf(context), hurried);
  // Somebody may have renamed the account at the platform.
  if (own === 'absent') own = await ownAccount(context, await shownName(context, hurried), hurried);
  if (own === undefined) {
    administrators.noteSilence();
    return isKnownAdministrator(context) ? 'last' : 'unknown';
  }
  const isAdministrator = own === 'absent' ? isKnownAdministrator(context) : own.isAdmin;
  if (!isAdministrator) return 'replaceable';
  // Protected accounts are looked up by name in a tenant of any size; then, with '', the whole list is read.
  for (const text of [...policy.users.protected, '']) {
    await accountsLike(context, text, call);
    if (await isAnotherSeen(context, call, leaving)) return 'replaceable';
  }
  return 'last';
}

/**
 * Returns whether an active administrator was seen recently whose account is none of those that are being closed. The SCIM account
 * has the username as userName, else the email (contract 3.4). An administrator without one does not count: somebody may have
 * renamed the account since.
 * @throws PlatformError
 */
async function isAnotherSeen(
  { target }: SyncContext,
  call: SyncContext['call'],
  { names, ids }: Leavers,
): Promise<boolean> {
  const { administrators, client } = target;
  const idsOf = (userName: string): Promise<string[]> =>
    administrators.idsOf(userName, async () => {
      const users = await client.users.findBy('userName', userName, call);
      return users.filter((user) => fold(user.userName) === fold(userName)).map(({ id }) => id);
    });
  for (const { username, email } of administrators.active()) {
    if (names.has(fold(username))) continue;
    const byName = await idsOf(username);
    const found = byName.length > 0 || email === '' ? byName : await idsOf(email);
    if (found.length > 0 && found.every((id) => !ids.has(id))) return true;
  }
  return false;
}

/** Returns the folded userName of the account to be closed, as it was last written. */
const nameOf = ({ link }: SyncContext): string => fold(String(link.core?.userName ?? ''));

/** Returns the folded userName of the account to be closed, as the platform shows it now. @throws PlatformError */
async function shownName(
  { link, shownAccount, target }: SyncContext,
  call: SyncContext['call'],
): Promise<string> {
  const { userName } = shownAccount?.user ?? (await target.client.users.get(platformIdOf(link), call));
  return fold(userName);
}

/**
 * Searches the user list for the account to be closed.
 * @param name its folded userName
 * @returns `absent`: the list does not show it under this name; undefined: as `accountsLike`
 */
async function ownAccount(
  context: SyncContext,
  name: string,
  call: SyncContext['call'],
): Promise<ConsoleUser | 'absent' | undefined> {
  const found = await accountsLike(context, name, call);
  // The number goes before the name: somebody else may have the name that the bridge wrote.
  const own =
    found?.find(({ id }) => id === context.link.account) ??
    found?.find(({ username }) => fold(username) === name);
  return found && (own ?? 'absent');
}

/** Returns whether the account is a known administrator: by a cached answer, its link, or its held change. */
const isKnownAdministrator = (context: SyncContext): boolean =>
  context.target.administrators.knows(nameOf(context)) ||
  context.link.isAdministrator === true ||
  context.link.condition?.reason === 'LastAdministrator';

/** Most links that one command reads from Redis. */
const LINKS_PORTION = 1000;

/** Returns all users whose deactivation is pending, held or recent, this user included. */
async function leavers({ link: own, links, outbox, target, work }: SyncContext): Promise<Leavers> {
  const names = new Set<string>();
  const ids = new Set<string>();
  const add = ({ id, core }: SyncContext['link']): void => {
    names.add(fold(String(core?.userName ?? '')));
    if (id !== undefined) ids.add(id);
  };
  add(own);
  const refs = (await outbox.guardStore.closingUsers()).filter((ref) => ref !== work.ref);
  for (const portion of inPortions(refs, LINKS_PORTION))
    for (const link of await links.getMany(target.name, portion)) add(link);
  return { names, ids };
}

/** Searches the user list for a text. @returns undefined when the tenant has no user list, or one too long for this check */
async function accountsLike(
  { target }: SyncContext,
  text: string,
  call: SyncContext['call'],
): Promise<ConsoleUser[] | undefined> {
  const found = await target.client.accounts.search(text, call).catch(unlessAbsent);
  if (found) target.administrators.see(found);
  return found;
}

/** Returns undefined for an error that means: this tenant has no complete user list. @throws every other error */
function unlessAbsent(error: unknown): undefined {
  const absent = error instanceof PlatformResponse && [400, 403, 404].includes(error.status);
  if (absent || error instanceof EndpointAbsent || error instanceof IncompleteList) return undefined;
  throw error;
}
