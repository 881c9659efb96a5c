// Finds console accounts for a comparison. A console account is a person's entry in the user list (`GET /api/v1/users`); its number
// keys the person's attribute values (sync/user/user-list.ts). A comparison of all users reads one list of all console accounts;
// for a few people, one search each costs less.
import { fold } from '../../directory/records.ts';
import type { PlatformClient } from '../../platform/client.ts';
import { PlatformError } from '../../platform/errors.ts';
import type { CallOptions, RepeatRequest } from '../../platform/request.ts';
import type { ConsoleUser } from '../../platform/wire.ts';
import { TOO_MANY } from '../../sync/calls/answering.ts';
import { isStatus } from '../../sync/calls/failures.ts';
import { isPageOr404 } from '../../sync/user/user-list.ts';

/**
 * Returns the accounts of the user list with this userName or e-mail address in any letter case. A search may find others too.
 * @throws errors of the platform client; EndpointAbsent or PlatformResponse 404 on a tenant without the list
 */
export type FindConsoleAccounts = (userName: string, call: CallOptions) => Promise<readonly ConsoleUser[]>;

type Accounts = Pick<PlatformClient, 'accounts'>;
/** Counter of platform calls (`ScanResult.counts`). */
type Calls = { calls: number };

/** Searches for each person anew. */
export const searchConsoleAccounts =
  ({ accounts }: Accounts, counts: Calls): FindConsoleAccounts =>
  (userName, call) => {
    counts.calls++;
    return accounts.search(userName, call);
  };

/**
 * Reads the whole list when the first person is looked up, which counts as one call. If that read fails, searches for each person:
 * a further read of the list might fail again after many pages. A list that is still answered with 429 when `repeatAfter429` gives
 * up is an exception: thousands of searches would only get more of these answers, so the look-up of each person fails without a
 * call.
 */
export function listConsoleAccounts(
  client: Accounts,
  counts: Calls,
  repeatAfter429: RepeatRequest,
): FindConsoleAccounts {
  const search = searchConsoleAccounts(client, counts);
  let reading: Promise<ReadonlyMap<string, readonly ConsoleUser[]>> | undefined;
  let hasFailed = false;
  return async (userName, call) => {
    if (hasFailed) return search(userName, call);
    if (!reading) {
      counts.calls++;
      reading = readByName(client.accounts, call, repeatAfter429);
    }
    try {
      return (await reading).get(fold(userName)) ?? [];
    } catch (error) {
      // Another error, because the caller would wait after a 429.
      if (isStatus(error, TOO_MANY)) throw new PlatformError('still answers 429 (too many requests)', error);
      hasFailed = true;
      // The caller judges whether the tenant has such a list.
      if (isPageOr404(error)) throw error;
      return search(userName, call);
    }
  };
}

/** Returns the accounts by userName and by e-mail address, both in lower case. */
async function readByName(
  accounts: Accounts['accounts'],
  call: CallOptions,
  repeatAfter429: RepeatRequest,
): Promise<ReadonlyMap<string, readonly ConsoleUser[]>> {
  const byName = new Map<string, ConsoleUser[]>();
  for await (const { id, username, email, externalId = null, isAdmin } of accounts.list(
    call,
    repeatAfter429,
  )) {
    const account = { id, username, email, externalId, isAdmin };
    for (const name of new Set([fold(username), fold(email)])) {
      const known = byName.get(name);
      if (known) known.push(account);
      else byName.set(name, [account]);
    }
  }
  return byName;
}
