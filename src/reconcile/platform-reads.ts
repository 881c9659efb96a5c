// Reads single accounts and their attribute values at the platform for a comparison, and counts each call.
import type { Link } from '../directory/outbox/links.ts';
import { isStoreFailure } from '../directory/redis/why-away.ts';
import type { WireUser } from '../platform/wire.ts';
import { exactAccounts } from '../sync/attributes.ts';
import { echoedAttributes } from '../sync/diff.ts';
import { isGone } from '../sync/failures.ts';
import type { DesiredUser } from '../sync/mapping.ts';
import type { DesiredAccount } from './compare.ts';
import type { ScanResult } from './scope.ts';
import type { AdoptableAccount } from './plan-users.ts';

/** Returns the id of the account in the list of values, which a link does not know before the first value was written there. */
export async function accountOf(
  scan: ScanResult,
  { account }: Link,
  { userName, externalId }: { userName: string; externalId?: unknown },
): Promise<string | undefined> {
  if (account !== undefined) return account;
  const found = await asking(scan, (signal) =>
    scan.scope.target.client.accounts.search(userName, { signal }),
  );
  if (found === 'unknown' || found === 'absent') return undefined;
  const [match, another] = exactAccounts(found, userName, externalId);
  return another ? undefined : match?.id;
}

/** Reads an account with its attribute values as the sync does before it adopts one. */
export async function readAdoptable(
  scan: ScanResult,
  id: string,
  { attributes }: DesiredAccount,
): Promise<AdoptableAccount | 'unknown'> {
  const { client } = scan.scope.target;
  const account = await asking(scan, (signal) => client.users.get(id, { signal }));
  if (account === 'absent' || account === 'unknown') return 'unknown';
  const echoed = echoedAttributes(account, attributes as DesiredUser['attributes']);
  const areAllEchoed = Object.keys(attributes).every((name) => name in echoed);
  if (areAllEchoed) return { account, values: echoed };
  const found = await asking(scan, (signal) => client.accounts.search(account.userName, { signal }));
  if (found === 'unknown') return 'unknown';
  const named = found === 'absent' ? [] : exactAccounts(found, account.userName, account.externalId);
  const [match] = named;
  // Without exactly one account of this name its value list is not known.
  if (!match || named.length > 1) return { account, values: echoed };
  const values = await readValues(scan, { account: match.id });
  if (values === 'unknown') return 'unknown';
  return { account, values: { ...echoed, ...Object.fromEntries(values ?? []) } };
}

/** Reads a linked account; `absent` when nothing is linked, or when the read is answered with 404. */
export async function readLinkedUser(scan: ScanResult, link: Link): Promise<WireUser | 'absent' | 'unknown'> {
  if (link.id === undefined) return 'absent';
  return asking(scan, (signal) => scan.scope.target.client.users.get(link.id ?? '', { signal }));
}

/**
 * Runs a read of the platform and counts it as a call.
 * @returns `absent` for a 404, `unknown` for any other error of the call
 * @throws the reason of an abort; the error of Redis, whose budget allows each call
 */
export async function asking<T>(
  scan: ScanResult,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'absent' | 'unknown'> {
  scan.counts.calls++;
  try {
    return await call(scan.signal);
  } catch (error) {
    scan.signal.throwIfAborted();
    if (isStoreFailure(error)) throw error;
    return isGone(error) ? 'absent' : 'unknown';
  }
}

/** Returns the value list of an account; undefined when the account is unknown or the tenant has no such list. */
export async function readValues(
  scan: ScanResult,
  { account }: { account?: string | undefined },
): Promise<ReadonlyMap<string, unknown> | undefined | 'unknown'> {
  if (account === undefined) return undefined;
  const found = await asking(scan, (signal) => scan.scope.target.client.values.list(account, { signal }));
  if (found === 'unknown') return found;
  return found === 'absent'
    ? undefined
    : new Map(found.map(({ name, value }) => [name, (value ?? null) as unknown]));
}
