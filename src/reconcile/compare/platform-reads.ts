// Reads single accounts and their attribute values at the platform for a comparison, and counts each call.
import type { Link } from '../../directory/outbox/links.ts';
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import { messageWithPlatformText } from '../../platform/errors.ts';
import type { ConsoleUser, WireUser } from '../../platform/wire.ts';
import { exactAccounts, isWithoutUserList } from '../../sync/user/attributes.ts';
import { echoedAttributes } from '../../sync/diff.ts';
import { isGone } from '../../sync/calls/failures.ts';
import type { DesiredUser } from '../../sync/mapping/mapping.ts';
import type { DesiredAccount } from './compare.ts';
import type { ScanResult } from '../scope.ts';
import type { Namesake } from './strangers.ts';
import type { AdoptableAccount } from './user-case.ts';

/**
 * Returns the value list of a linked account; undefined when no attribute is mapped, the user list has not exactly one account of
 * the name, or the tenant has no such lists; `unknown` when a call failed. A link knows the id in the value list (`Link.account`)
 * only after the first value was written.
 */
export async function readValues(
  scan: ScanResult,
  { account }: Link,
  { userName, externalId }: { userName: string; externalId?: unknown },
): Promise<ReadonlyMap<string, unknown> | undefined | 'unknown'> {
  const { types } = scan.scope.target.mapping;
  if (Object.keys(types).length === 0) return undefined;
  if (account !== undefined) return listValues(scan, account);
  const found = await accountsNamed(scan, userName, externalId);
  if (found === 'unknown') return found;
  const [match, another] = found;
  return match && !another ? listValues(scan, match.id) : undefined;
}

/** Returns the accounts of the user list with this name; none on a tenant without a user list. */
async function accountsNamed(
  scan: ScanResult,
  userName: string,
  externalId: unknown,
): Promise<ConsoleUser[] | 'unknown'> {
  const { client } = scan.scope.target;
  const found = await asking(scan, (signal) =>
    client.accounts.search(userName, { signal }).catch(async (error: unknown) => {
      if (await isWithoutUserList(client, error, { signal })) return [];
      throw error;
    }),
  );
  if (found === 'unknown') return found;
  return found === 'absent' ? [] : exactAccounts(found, userName, externalId);
}

/**
 * Reads an account with its attribute values as the sync does before it adopts one. An account that the sync of a user who left
 * is about to close counts as closed and taken out of its groups, because the adoption waits for it.
 */
export async function readAdoptable(
  scan: ScanResult,
  { id, isClosing = false }: Namesake,
  { attributes }: DesiredAccount,
): Promise<AdoptableAccount | 'unknown'> {
  const { client } = scan.scope.target;
  const read = await asking(scan, (signal) => client.users.get(id, { signal }));
  if (read === 'absent' || read === 'unknown') return 'unknown';
  const account = isClosing ? { ...read, active: false, groups: [] } : read;
  // Values that the SCIM answer contains.
  const echoed = echoedAttributes(account, attributes as DesiredUser['attributes']);
  const areAllEchoed = Object.keys(attributes).every((name) => name in echoed);
  if (areAllEchoed) return { account, values: echoed };
  const named = await accountsNamed(scan, account.userName, account.externalId);
  if (named === 'unknown') return 'unknown';
  const [match] = named;
  // Without exactly one account of this name its value list is not known.
  if (!match || named.length > 1) return { account, values: echoed };
  const values = await listValues(scan, match.id);
  if (values === 'unknown') return 'unknown';
  return { account, values: { ...echoed, ...Object.fromEntries(values ?? []) } };
}

/**
 * Reads a linked account; `absent` when nothing is linked, or when the read is answered with 404; `unknown` also when the answer
 * does not show whether the account is active.
 */
export async function readLinkedUser(
  scan: ScanResult,
  { id }: Link,
): Promise<WireUser | 'absent' | 'unknown'> {
  if (id === undefined) return 'absent';
  const user = await asking(scan, (signal) => scan.scope.target.client.users.get(id, { signal }));
  if (typeof user !== 'object' || user.active !== undefined) return user;
  scan.noteFailure?.('the platform answered a user without a readable `active`');
  return 'unknown';
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
    if (isGone(error)) return 'absent';
    scan.noteFailure?.(error instanceof Error ? messageWithPlatformText(error) : String(error));
    return 'unknown';
  }
}

/** Returns the value list of an account; undefined when the platform answers 404. */
async function listValues(
  scan: ScanResult,
  account: string,
): Promise<ReadonlyMap<string, unknown> | undefined | 'unknown'> {
  const found = await asking(scan, (signal) => scan.scope.target.client.values.list(account, { signal }));
  if (found === 'unknown') return found;
  return found === 'absent'
    ? undefined
    : new Map(found.map(({ name, value }) => [name, (value ?? null) as unknown]));
}
