// Reads single accounts and their attribute values at the platform for a comparison, and counts the calls. Besides the SCIM account
// the platform has a user list, in which the same account has a numeric id, its number; attribute values are read by that number.
import type { Link } from '../../directory/outbox/link.ts';
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import { messageWithPlatformText } from '../../platform/errors.ts';
import type { WireUser } from '../../platform/wire.ts';
import { consoleAccountsOf, isWithoutUserList, type ShownAccount } from '../../sync/user/user-list.ts';
import { echoedAttributes } from '../../sync/diff.ts';
import { isGone } from '../../sync/calls/failures.ts';
import type { DesiredUser } from '../../sync/mapping/mapping.ts';
import type { DesiredAccount } from './compare.ts';
import { searchConsoleAccounts, type FindConsoleAccounts } from './console-list.ts';
import type { ScanResult } from '../scope.ts';
import type { Namesake } from './strangers.ts';
import type { AdoptableAccount } from './user-case.ts';

/** Attribute values of an account by name, and the number under which they are stored. */
interface NumberedValues {
  account: string;
  /** Undefined: the platform does not have the number. */
  values: ReadonlyMap<string, unknown> | undefined;
}

/**
 * Returns the values of a linked account, by the number that the user list proves for it, which may differ from the stored one
 * (`Link.account`). Undefined: no attribute is mapped, the user list has not exactly one account of the name, or the tenant has no
 * such list. `unknown`: a call failed.
 */
export async function readValues(
  scan: ScanResult,
  { account }: Link,
  shown: ShownAccount,
): Promise<NumberedValues | undefined | 'unknown'> {
  const { types } = scan.scope.target.mapping;
  if (Object.keys(types).length === 0) return undefined;
  const proven = await provenNumber(scan, account, shown);
  if (proven === 'unknown') return proven;
  if (proven.number === undefined) return undefined;
  const values = await listValues(scan, proven.number);
  return values === 'unknown' ? values : { account: proven.number, values };
}

/** Number of an account; undefined: not exactly one account of the user list can be it, or the tenant has no such list. */
interface ProvenNumber {
  number: string | undefined;
}

/**
 * Returns the number of the account `shown`, if the user list has exactly one account that can be it; `unknown` when a call failed.
 * @param stored number in the link; if the first answer differs from it, a search made now decides, even if it finds none
 */
export async function provenNumber(
  scan: ScanResult,
  stored: string | undefined,
  shown: ShownAccount,
): Promise<ProvenNumber | 'unknown'> {
  const proven = await numberIn(scan, shown, scan.findConsoleAccounts);
  if (stored === undefined || proven === 'unknown' || proven.number === stored) return proven;
  // The list of the run may be older than a rename.
  return numberIn(scan, shown, searchConsoleAccounts(scan.scope.target.client, scan.counts));
}

/** Returns the number of the account shown, by the accounts that `find` returns. */
async function numberIn(
  scan: ScanResult,
  shown: ShownAccount,
  find: FindConsoleAccounts,
): Promise<ProvenNumber | 'unknown'> {
  const { client } = scan.scope.target;
  const found = await answerOf(scan, async (signal) => {
    const listed = await find(shown.userName, { signal }).catch(async (error: unknown) => {
      if (await isWithoutUserList(client, error, { signal })) return [];
      throw error;
    });
    return consoleAccountsOf(client, shown, listed, { signal });
  });
  if (found === 'unknown') return found;
  const [match, another] = found === 'absent' ? [] : found;
  return { number: another ? undefined : match?.id };
}

/**
 * Reads an account with its attribute values as the sync does before it adopts one. An account that the sync of a user who left is
 * about to close counts as closed and taken out of its groups, because the adoption waits for that sync.
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
  const proven = await provenNumber(scan, undefined, account);
  if (proven === 'unknown') return 'unknown';
  // Without exactly one account of this name its value list is not known.
  if (proven.number === undefined) return { account, values: echoed };
  const values = await listValues(scan, proven.number);
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
 * @throws the reason of an abort; errors of Redis, which keeps the budget of calls
 */
export async function asking<T>(
  scan: ScanResult,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'absent' | 'unknown'> {
  return answerOf(scan, (signal) => {
    scan.counts.calls++;
    return call(signal);
  });
}

/**
 * Runs reads of the platform as `asking`, without counting them. For reads that count themselves (`FindConsoleAccounts`), and for
 * reads that are kept for later runs (the target's catalogue in sync/mapping/catalogue.ts).
 */
export async function answerOf<T>(
  scan: ScanResult,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'absent' | 'unknown'> {
  try {
    return await scan.repeatAfter429(() => call(scan.signal));
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
