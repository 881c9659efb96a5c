// Decides for new users whether an account can exist, from one list of the platform instead of two look-ups for each of them
// (ADR 0023). `readAccountList` reads the list once and keeps the names of all accounts as a set; `createListedAccounts` decides
// when a list is read, and how long it counts. A wrong decision about a new user is harmless: a create for an existing account
// answers 409. left-account.ts asks about leavers without link too; if the list wrongly lacks the account of one, that account
// stays open. The set of names is a Bloom filter (below), which takes a fixed amount of memory.
import type { CallOptions, PlatformClient } from '../../platform/client.ts';
import type { WireUser } from '../../platform/wire.ts';
import { fold } from '../../directory/records.ts';
import type { Clock } from '../../support/sources.ts';
import { settledWithin } from '../../support/within.ts';
import { PAGE_SIZE, readWholeList } from '../calls/whole-list.ts';

/** Keys of the two names of an account in the Bloom filter. The first letter keeps userNames and externalIds apart. */
export const nameKey = (userName: string): string => `n${fold(userName)}`;
export const externalIdKey = (externalId: string): string => `x${externalId}`;

/** `unproven` and `tooLong`: there is no set of names (WholeList). */
type AccountList = { kind: 'read'; names: BloomFilter } | { kind: 'unproven' | 'tooLong' };

/**
 * Reads the user list to a proven end (readWholeList).
 * @param worthPages called after the first page; returns how many more pages may be read
 * @returns the set of all names, or why there is none
 * @throws PlatformError when a page cannot be read
 */
export async function readAccountList(
  { users }: Pick<PlatformClient, 'users'>,
  worthPages: () => Promise<number>,
  call: CallOptions,
): Promise<AccountList> {
  let names: BloomFilter | undefined;
  const kind = await readWholeList<WireUser>(
    (range) => users.list(range, call),
    (added, total) => {
      // Each account has up to two keys, and one page of new accounts may be added while the list is read.
      names ??= createBloomFilter(2 * (total + PAGE_SIZE));
      for (const { userName, externalId } of added) {
        names.add(nameKey(userName));
        if (externalId) names.add(externalIdKey(externalId));
      }
    },
    worthPages,
  );
  return kind === 'read' && names ? { kind, names } : { kind: kind === 'read' ? 'unproven' : kind };
}

export type ListedAccounts = ReturnType<typeof createListedAccounts>;

/** Number of new users within NEW_USERS_MS from which a list is read. */
const MANY = 2;
/** Time for which new users are counted together. */
const NEW_USERS_MS = 60_000;
/** Longest time that a sync waits for the list before it looks up its own account. */
const LIST_WAIT_MS = 1000;
/** Time for which no list is read after one that was unproven, too long or not readable. */
const RETRY_MS = 60_000;
/** A list lives this many times as long as it took to read, within the two limits below. */
const LIFE_PER_READING = 20;
const SHORTEST_LIFE_MS = 120_000;
const LONGEST_LIFE_MS = 900_000;
/** Part of the lifetime after which the next list is read in the background. */
const RENEW_AFTER = 0.75;
/** Number of look-ups that the list saves for each new user: one by externalId, one by userName. */
const SAVED_PER_USER = 2;

/** Creates the store of one target for the names of all accounts; nothing is read yet. */
export function createListedAccounts(deps: { client: Pick<PlatformClient, 'users'>; clock: Clock }) {
  const { client, clock } = deps;
  /** Returns the number of new users from the time `since` on, Unix milliseconds. */
  let newUsers = { since: Number.NEGATIVE_INFINITY, users: 0 };
  let list: { names: BloomFilter; readAt: number; lifetimeMs: number } | undefined;
  let reading: Promise<void> | undefined;
  let retryAt = Number.NEGATIVE_INFINITY;

  async function read(countNew: () => Promise<number>, signal: AbortSignal): Promise<void> {
    const readAt = clock.now();
    const worthPages = async (): Promise<number> => SAVED_PER_USER * ((await countNew()) + newUsers.users);
    const found = await readAccountList(client, worthPages, { signal });
    if (found.kind !== 'read') {
      retryAt = clock.now() + RETRY_MS;
      return;
    }
    const tookMs = clock.now() - readAt;
    const lifetimeMs = Math.min(LONGEST_LIFE_MS, Math.max(SHORTEST_LIFE_MS, LIFE_PER_READING * tookMs));
    list = { names: found.names, readAt, lifetimeMs };
  }

  function begin(countNew: () => Promise<number>, signal: AbortSignal): Promise<void> {
    reading ??= read(countNew, signal)
      // The error is dropped: without a list each sync looks up its own account, and those calls report the failure.
      .catch(() => {
        // A read that ended with its sync tells nothing about the list.
        if (!signal.aborted) retryAt = clock.now() + RETRY_MS;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  return {
    /**
     * Returns whether an account with this userName or externalId may exist; undefined when no list is at hand, so that the account
     * has to be looked up. `countNew`: returns how many new resources wait for their first sync.
     */
    mayHave: async (
      { userName, externalId }: { userName: string; externalId: string | null },
      { countNew, signal }: { countNew: () => Promise<number>; signal: AbortSignal },
    ): Promise<boolean | undefined> => {
      const now = clock.now();
      if (now - newUsers.since > NEW_USERS_MS) newUsers = { since: now, users: 0 };
      newUsers.users++;
      /** Returns whether there is no list, or its age exceeds this part of its lifetime. */
      const isOlderThan = (part: number): boolean =>
        !list || clock.now() - list.readAt > part * list.lifetimeMs;
      if (isOlderThan(RENEW_AFTER) && newUsers.users >= MANY && clock.now() >= retryAt) {
        const done = begin(countNew, signal);
        if (isOlderThan(1)) await settledWithin(clock, done, LIST_WAIT_MS);
      }
      if (!list || isOlderThan(1)) {
        list = undefined;
        return undefined;
      }
      const { names } = list;
      return (
        names.mayHave(nameKey(userName)) || (externalId !== null && names.mayHave(externalIdKey(externalId)))
      );
    },
  };
}

/** Bits of the filter per text. */
const BITS_PER_TEXT = 16;
/** Number of bits that each text sets. */
const HASHES = 8;
/** Fewest bits of a filter. */
const LEAST_BITS = 1024;

/**
 * A set of texts in fixed memory. Every added text is found. Of the texts that were not added, about one in two thousand is a
 * false positive.
 */
export interface BloomFilter {
  add(text: string): void;
  /** Returns false only for a text that was not added. */
  mayHave(text: string): boolean;
}

/** Creates an empty filter. @param capacity expected number of texts; with more texts, false positives become more frequent */
export function createBloomFilter(capacity: number): BloomFilter {
  const bits = Math.max(LEAST_BITS, Math.ceil(capacity) * BITS_PER_TEXT);
  const bytes = new Uint8Array(Math.ceil(bits / 8));

  /** Calls `visit` with the bit positions of a text until it returns false. */
  function visitAll(text: string, visit: (bit: number) => boolean): boolean {
    // Two hashes with different seeds give all positions: the first one, and the step from each to the next. The step is odd, so
    // it is never 0.
    const first = hash(text, FNV_OFFSET);
    const step = hash(text, FNV_PRIME) | 1;
    for (let index = 0; index < HASHES; index++)
      if (!visit(((first + index * step) >>> 0) % bits)) return false;
    return true;
  }

  return {
    add: (text) => {
      visitAll(text, (bit) => {
        // Eight bits for each byte: `>>> 3` is the byte, `& 7` the bit in it.
        bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
        return true;
      });
    },
    mayHave: (text) => visitAll(text, (bit) => ((bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0),
  };
}

/** Constants of the hash function FNV-1a for 32 bits. */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a with the final mix of MurmurHash3, 32 bits. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), FNV_PRIME);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
