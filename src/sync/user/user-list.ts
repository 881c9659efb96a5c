// Finds the console account of a SCIM account, and tells whether a tenant has a list of console accounts. The platform shows each
// person twice: as SCIM account (`/Users` of its SCIM API, an id of text) and as console account (the user list,
// `GET /api/v1/users`, the number under which attribute values are stored). No record has both ids (contract 3.4).
import type { Condition } from '../../directory/outbox/link-condition.ts';
import { fold } from '../../directory/records.ts';
import type { PlatformClient } from '../../platform/client.ts';
import { EndpointAbsent, PlatformIntermediary } from '../../platform/errors.ts';
import type { CallOptions } from '../../platform/request.ts';
import type { ConsoleUser, WireUser } from '../../platform/wire.ts';
import { isStatus } from '../calls/failures.ts';

/** The attributes of a SCIM account by which its console account is found. */
export type ShownAccount = Pick<WireUser, 'id' | 'userName' | 'externalId'>;

/** End of the sentence about a value that cannot be written without a user list. */
export const NEEDS_USER_LIST = 'needs the user list (GET /api/v1/users), which this tenant does not have';

/** Returns whether a dead letter is about values that could not be written because the tenant had no user list. */
export const isAboutUserList = (condition: Pick<Condition, 'reason' | 'message'> | undefined): boolean =>
  condition?.reason === 'AttributesNotWritten' && condition.message.includes(NEEDS_USER_LIST);

/**
 * Returns the accounts of the user list that can be the console account of a SCIM account: those with its userName; without any,
 * those with the userName as email address. An account that can belong to another SCIM account is left out. With several, it is not
 * known which one it is.
 * @param shown the SCIM account, as the platform shows it now
 * @param found result of a search in the user list for the userName
 */
export async function consoleAccountsOf(
  { users }: Pick<PlatformClient, 'users'>,
  shown: ShownAccount,
  found: readonly ConsoleUser[],
  call: CallOptions,
): Promise<ConsoleUser[]> {
  const isOfAnother = async ({ username }: ConsoleUser): Promise<boolean> => {
    if (fold(username) === fold(shown.userName)) return false;
    const holders = await users.findBy('userName', username, call);
    return holders.some(({ id, userName }) => id !== shown.id && fold(userName) === fold(username));
  };
  const exact = exactAccounts(found, shown);
  const ofAnother = await Promise.all(exact.map(isOfAnother));
  return exact.filter((_, index) => !ofAnother[index]);
}

/**
 * Returns the accounts with this userName; if there is none, those with it as email address. Accounts with another externalId are
 * left out.
 */
function exactAccounts(found: readonly ConsoleUser[], { userName, externalId }: ShownAccount): ConsoleUser[] {
  const wanted = fold(userName);
  const byName = found.filter((account) => fold(account.username) === wanted);
  const matches = byName.length > 0 ? byName : found.filter((account) => fold(account.email) === wanted);
  // Different externalIds mean different people.
  return matches.filter((account) => !account.externalId || !externalId || account.externalId === externalId);
}

/** Returns whether the answer was a 404, a web page, or another answer that the platform itself does not send. */
export const isPageOr404 = (error: unknown): boolean =>
  error instanceof EndpointAbsent || error instanceof PlatformIntermediary || isStatus(error, 404);

/**
 * Returns whether an error of the user list means that the tenant has none (contract 12.9).
 * @throws PlatformError when the list of attributes fails too: then a proxy may have answered
 */
export async function isWithoutUserList(
  client: Pick<PlatformClient, 'attributes'>,
  error: unknown,
  call: CallOptions,
): Promise<boolean> {
  if (!isPageOr404(error)) return false;
  await client.attributes.list(call);
  return true;
}
