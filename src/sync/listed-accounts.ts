// Decides for new users whether an account can exist, from one list of the platform instead of two look-ups for each of them
// (ADR 0023). A wrong decision is harmless: a create for an existing account answers 409.
import type { PlatformClient } from '../platform/client.ts';
import type { BloomFilter } from '../support/bloom-filter.ts';
import type { Clock } from '../support/sources.ts';
import { settledWithin } from '../support/within.ts';
import { externalIdKey, nameKey, readAccountList } from './account-list.ts';

export interface ListedAccounts {
  /**
   * Returns whether an account with this userName or externalId may exist; undefined when no list is at hand, so that the
   * account has to be looked up.
   */
  mayHave(
    wanted: { userName: string; externalId: string | null },
    asking: { countNew: () => Promise<number>; signal: AbortSignal },
  ): Promise<boolean | undefined>;
}

/** Number of new users within NEW_USERS_MS from which a list is read. */
const MANY = 2;
const NEW_USERS_MS = 60_000;
/** Longest time that a sync waits for the list before it looks up its own account. */
const LIST_WAIT_MS = 1000;
/** Time without another attempt after a list that was unproven, too long or not readable. */
const RETRY_MS = 60_000;
/** Bounds of a list's lifetime. Between them it is this multiple of the time that the list took to read. */
const SHORTEST_LIFE_MS = 120_000;
const LONGEST_LIFE_MS = 900_000;
const LIFE_PER_READING = 20;
/** Part of the lifetime after which the next list is read in the background. */
const RENEW_AFTER = 0.75;
/** Number of look-ups that the list saves for each new user: one by externalId, one by userName. */
const SAVED_PER_USER = 2;

export function createListedAccounts(deps: {
  client: Pick<PlatformClient, 'users'>;
  clock: Clock;
}): ListedAccounts {
  const { client, clock } = deps;
  let seen = { since: Number.NEGATIVE_INFINITY, users: 0 };
  let list: { names: BloomFilter; readAt: number; lifetimeMs: number } | undefined;
  let reading: Promise<void> | undefined;
  let retryAt = Number.NEGATIVE_INFINITY;

  function noteNewUser(): void {
    const now = clock.now();
    if (now - seen.since > NEW_USERS_MS) seen = { since: now, users: 0 };
    seen.users++;
  }

  async function read(countNew: () => Promise<number>, signal: AbortSignal): Promise<void> {
    const readAt = clock.now();
    const worthPages = async (): Promise<number> => SAVED_PER_USER * ((await countNew()) + seen.users);
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
      // Without a list each sync looks up its own account, and its calls report the failure.
      .catch(() => {
        retryAt = clock.now() + RETRY_MS;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  return {
    mayHave: async ({ userName, externalId }, { countNew, signal }) => {
      noteNewUser();
      const age = (): number => clock.now() - (list?.readAt ?? Number.NEGATIVE_INFINITY);
      const isOlderThan = (share: number): boolean => !list || age() > share * list.lifetimeMs;
      if (isOlderThan(RENEW_AFTER) && seen.users >= MANY && clock.now() >= retryAt) {
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
