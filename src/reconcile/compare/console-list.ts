// Finds console accounts for a comparison: in one list of all of them that the whole run shares, or by one search for each person
// where the list would cost more.
import { fold } from '../../directory/records.ts';
import type { PlatformClient } from '../../platform/client.ts';
import type { CallOptions } from '../../platform/request.ts';
import type { ConsoleUser } from '../../platform/wire.ts';

/**
 * Returns the accounts of the user list with this userName or e-mail address, without case, and perhaps others.
 * @throws errors of the platform client; EndpointAbsent or PlatformResponse 404 on a tenant without the list
 */
export type FindConsoleAccounts = (userName: string, call: CallOptions) => Promise<readonly ConsoleUser[]>;

type Accounts = Pick<PlatformClient, 'accounts'>;
/** Counter of a run (`ScanResult.counts`). */
type Calls = { calls: number };

/** Searches for each person anew. */
export const searchConsoleAccounts =
  ({ accounts }: Accounts, counts: Calls): FindConsoleAccounts =>
  (userName, call) => {
    counts.calls++;
    return accounts.search(userName, call);
  };

/** Reads the whole list at the first question, which counts as one call. A list that failed is read again at the next one. */
export function listConsoleAccounts({ accounts }: Accounts, counts: Calls): FindConsoleAccounts {
  let reading: Promise<ReadonlyMap<string, readonly ConsoleUser[]>> | undefined;
  return async (userName, call) => {
    if (!reading) {
      counts.calls++;
      reading = readByName(accounts, call);
    }
    const current = reading;
    try {
      return (await current).get(fold(userName)) ?? [];
    } catch (error) {
      if (reading === current) reading = undefined;
      throw error;
    }
  };
}

/** Returns the accounts by userName and by e-mail address, both in lower case. */
async function readByName(
  accounts: Accounts['accounts'],
  call: CallOptions,
): Promise<ReadonlyMap<string, readonly ConsoleUser[]>> {
  const byName = new Map<string, ConsoleUser[]>();
  for await (const { id, username, email, externalId = null, isAdmin } of accounts.list(call)) {
    const account = { id, username, email, externalId, isAdmin };
    for (const name of new Set([fold(username), fold(email)])) {
      const known = byName.get(name);
      if (known) known.push(account);
      else byName.set(name, [account]);
    }
  }
  return byName;
}
