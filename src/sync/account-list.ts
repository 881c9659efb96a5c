// Reads the platform's user list to a proven end into a set of names. Consecutive pages overlap by one account: an account
// that vanishes from the list while it is read moves the rest, and the overlap shows it.
import type { ListPage } from '../platform/readers.ts';
import type { CallOptions, PlatformClient } from '../platform/client.ts';
import type { WireUser } from '../platform/wire.ts';
import { fold } from '../directory/records.ts';
import { createBloomFilter, type BloomFilter } from '../support/bloom-filter.ts';

/** Requested page size; the platform may lower it. */
const PAGE_SIZE = 500;
/** Number of pages that are read at the same time. */
const CONCURRENT_PAGES = 4;

/** Keys of the two names of an account in the set. The first letter keeps userNames and externalIds apart. */
export const nameKey = (userName: string): string => `n${fold(userName)}`;
export const externalIdKey = (externalId: string): string => `x${externalId}`;

/** `unproven`: the list changed or contradicts itself. `tooLong`: more pages than `worthPages` allows. */
export type AccountList = { kind: 'read'; names: BloomFilter } | { kind: 'unproven' } | { kind: 'tooLong' };

/**
 * Reads the list once. New accounts may appear at its end meanwhile.
 * @param worthPages called after the first page; returns how many more pages may be read
 * @returns the set of all names, or why there is none
 * @throws PlatformError when a page cannot be read
 */
export async function readAccountList(
  { users }: Pick<PlatformClient, 'users'>,
  worthPages: () => Promise<number>,
  call: CallOptions,
): Promise<AccountList> {
  const first = await users.list({ startIndex: 1, count: PAGE_SIZE }, call);
  const total = first.totalResults;
  const size = first.resources.length;
  // Each account has up to two keys, and a page of new accounts may follow.
  const names = createBloomFilter(2 * (total + PAGE_SIZE));
  const ids = new Set<string>();
  let last: WireUser | undefined;
  let highest = total;

  /** Adds the names of a page. @returns whether the page continues the one before without a gap */
  function take({ startIndex, totalResults, resources }: ListPage<WireUser>): boolean {
    if (totalResults < highest) return false;
    highest = totalResults;
    const expectedLength = Math.min(size, totalResults - startIndex + 1);
    if (resources.length !== expectedLength) return false;
    // Every page but the first begins with the last account of the page before.
    if (last !== undefined && resources[0]?.id !== last.id) return false;
    const added = last === undefined ? resources : resources.slice(1);
    for (const { id, userName, externalId } of added) {
      if (ids.has(id)) return false;
      ids.add(id);
      names.add(nameKey(userName));
      if (externalId) names.add(externalIdKey(externalId));
    }
    last = resources.at(-1);
    return true;
  }

  if (!take(first)) return { kind: 'unproven' };
  if (size >= total) return { kind: 'read', names };
  if (size < 2) return { kind: 'unproven' };
  const starts: number[] = [];
  for (let start = size; start < total; start += size - 1) starts.push(start);
  if (starts.length > (await worthPages())) return { kind: 'tooLong' };
  for (let at = 0; at < starts.length; at += CONCURRENT_PAGES) {
    const portion = starts.slice(at, at + CONCURRENT_PAGES);
    const pages = await Promise.all(
      portion.map((startIndex) => users.list({ startIndex, count: size }, call)),
    );
    for (const page of pages) if (!take(page)) return { kind: 'unproven' };
  }
  return { kind: 'read', names };
}
