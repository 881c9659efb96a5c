// Finds the console account of a SCIM account, whose number keys attribute values. No record of the platform has both ids
// (contract 3.4), and a wrong number would write one person's values to the account of another.
// Flags of the link: directory/outbox/link.ts.
import { platformIdOf, type Link } from '../../directory/outbox/link.ts';
import type { ConsoleUser } from '../../platform/wire.ts';
import { blockedBy, condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import type { Unfinished } from '../outcome.ts';
import { consoleAccountsOf, isPageOr404, isWithoutUserList, type ShownAccount } from './user-list.ts';

/** `absent`: the tenant has no user list. */
type ResolvedAccount = { kind: 'found'; id: string } | { kind: 'absent' } | Unfinished;

/** Time that the user list may need to show a new account, or the new userName of an account (contract 12.1). */
export const NEW_ACCOUNT_MS = 60_000;
/** Shortest and longest wait for the next search for an account. Between them the wait is the time since the first search. */
const SEARCH_AGAIN_MS = { least: 250, most: 5000 };
/** From this number of failed attempts and this time since the first on, a 404 or a web page means that there is no user list. */
const WITHOUT_LIST = { attempts: 3, ms: 1000 };

/**
 * Returns the number of the account. A number in the link counts until the userName changes. Otherwise the user list must have
 * exactly one account with the present userName.
 * @throws PlatformError, also a 404 when the SCIM account is gone
 */
export async function resolveAccount(context: SyncContext): Promise<ResolvedAccount> {
  const { link, target, call } = context;
  const proven = context.shownAccount?.number ?? (isProven(link) ? link.account : undefined);
  if (link.id !== undefined && proven !== undefined) return { kind: 'found', id: proven };
  // The account is read, because somebody may have renamed or replaced it.
  const shown = (context.shownAccount ??= { user: await target.client.users.get(platformIdOf(link), call) });
  let matches: ConsoleUser[];
  try {
    const found = await target.client.accounts.search(shown.user.userName, call);
    target.lacks.userList = false;
    target.administrators.see(found);
    matches = await consoleAccountsOf(target.client, shown.user, found, call);
  } catch (error) {
    if (await hasNoUserList(context, error)) return { kind: 'absent' };
    throw error;
  }
  if (matches.length > 1) {
    const message = 'several accounts carry this userName: no attribute is written until one remains';
    return blockedBy(context, 'AmbiguousAccount', message);
  }
  const [match] = matches;
  if (match && isUpToDate(context, shown.user, match)) return noteNumber(context, shown, match);
  return searchLater(context);
}

/**
 * Notes the number of the account that was found. It is stored only together with the SCIM id that it belongs to: before an
 * adoption is complete (link without id), the account may turn out to be another one.
 * @returns the number; if the link had another one, the sync ends, and the next one writes all values again
 */
async function noteNumber(
  context: SyncContext,
  shown: NonNullable<SyncContext['shownAccount']>,
  match: ConsoleUser,
): Promise<ResolvedAccount> {
  const { link } = context;
  const isLinked = link.id !== undefined;
  const isOtherThanBefore = isLinked && link.account !== undefined && link.account !== match.id;
  shown.number = match.id;
  link.account = match.id;
  if (match.isAdmin) link.isAdministrator = true;
  else delete link.isAdministrator;
  delete link.renamedAt;
  delete link.searchingSince;
  if (isOtherThanBefore) makeValuesUnsure(link);
  if (isLinked) await context.save();
  return isOtherThanBefore ? { kind: 'later', afterMs: 0 } : { kind: 'found', id: match.id };
}

/** Returns when to search again; from NEW_ACCOUNT_MS on, with a condition. @throws the 404 when the SCIM account is gone too */
async function searchLater(context: SyncContext): Promise<Unfinished> {
  const { link, target, clock, call } = context;
  link.searchingSince ??= clock.now();
  const searchedMs = clock.now() - link.searchingSince;
  if (searchedMs < NEW_ACCOUNT_MS)
    return {
      kind: 'later',
      afterMs: Math.max(SEARCH_AGAIN_MS.least, Math.min(searchedMs, SEARCH_AGAIN_MS.most)),
    };
  // If the SCIM user is gone too, this read throws 404, and the sync starts again.
  if (link.id !== undefined) await target.client.users.get(link.id, call);
  const message = 'the user list does not show this account: check that the platform key may read users';
  return {
    kind: 'later',
    afterMs: NEW_ACCOUNT_MS,
    condition: condition(context, 'AccountNotFound', message),
  };
}

/** Makes all values unsure, because they may have been written to the account of another person. */
function makeValuesUnsure(link: Link): void {
  const names = Object.keys(link.attributes ?? {}).map((name) => `attributes.${name}`);
  link.unsure = [...new Set([...(link.unsure ?? []), ...names])];
}

/** Returns whether the account has the userName with which its number was found (contract 12.2). */
const isProven = ({ renamedAt, unsure }: Link): boolean =>
  renamedAt === undefined && unsure?.includes('userName') !== true;

/**
 * Returns whether the user list shows the present holder of the userName. After a rename the list may still show another account
 * that had the name before, unless the externalId or the former number agrees.
 */
function isUpToDate({ link, clock }: SyncContext, { externalId }: ShownAccount, match: ConsoleUser): boolean {
  const isSame = match.id === link.account || (!!externalId && match.externalId === externalId);
  return isSame || link.renamedAt === undefined || clock.now() - link.renamedAt >= NEW_ACCOUNT_MS;
}

/**
 * Returns whether an error of the user list means that the tenant has none. A 404 or a web page in place of the list counts only
 * when several attempts have met it, because a proxy may send one for a short time.
 */
async function hasNoUserList({ target, link, call, clock }: SyncContext, error: unknown): Promise<boolean> {
  if (!isPageOr404(error)) return false;
  link.searchingSince ??= clock.now();
  const isLasting =
    (link.attempts ?? 0) >= WITHOUT_LIST.attempts && clock.now() - link.searchingSince >= WITHOUT_LIST.ms;
  if (!isLasting && !target.lacks.userList) return false;
  target.lacks.userList = await isWithoutUserList(target.client, error, call);
  return target.lacks.userList;
}
