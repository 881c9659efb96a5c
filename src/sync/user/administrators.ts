// Caches which administrators a target has: a deactivation must leave an active administrator (last-administrator.ts, ADR 0026),
// and with the cache many deactivations share one read of the user list. Roles change at the platform, so the cache is kept for a
// short time.
import { fold } from '../../directory/records.ts';
import type { ConsoleUser } from '../../platform/wire.ts';
import type { Clock } from '../../support/sources.ts';

export type Administrators = ReturnType<typeof createAdministrators>;

/** Lifetime of a cached administrator and of a shared read; also the pause after which a deactivation counts as the first again. */
const FRESH_MS = 60_000;
/** Time without another read after the list failed. */
const SILENCE_MS = 30_000;
/** Name of the read of the list among shared reads; no userName is empty. */
const LIST = '';

/** Creates the empty cache of one target. */
export function createAdministrators(clock: Clock) {
  /** Administrators by folded userName. `at`: time when the account was last seen active; 0: deactivated. */
  const seen = new Map<string, { username: string; email: string; at: number }>();
  let silentUntil = 0;
  /** Time of the last call of `awaitSharedRead`. */
  let lastCallAt = Number.NEGATIVE_INFINITY;
  /**
   * Reads that deactivations share; `at`: time when the read began. Key: LIST for the read of the user list, a folded userName for
   * the read of the SCIM accounts with this userName.
   */
  const sharedReads = new Map<string, { at: number; result: Promise<unknown> }>();

  /** Stores which accounts of an answer are administrators, and forgets those that no longer are. */
  function see(accounts: readonly ConsoleUser[]): void {
    for (const { username, email, isAdmin, isDeactivated } of accounts) {
      if (isAdmin)
        seen.set(fold(username), { username, email, at: isDeactivated === true ? 0 : clock.now() });
      else seen.delete(fold(username));
    }
  }

  /** Returns the result of a read that began less than FRESH_MS ago and did not fail; else reads. @throws the error of `read` */
  async function shared<T>(name: string, read: () => Promise<T>): Promise<T> {
    const now = clock.now();
    const former = sharedReads.get(name);
    const present = former && now - former.at < FRESH_MS ? former : { at: now, result: read() };
    sharedReads.set(name, present);
    return (present.result as Promise<T>).catch((error: unknown) => {
      if (sharedReads.get(name) === present) sharedReads.delete(name);
      throw error;
    });
  }

  return {
    see,
    /** Returns the active administrators who were seen recently. */
    active: (): Pick<ConsoleUser, 'username' | 'email'>[] =>
      [...seen.values()].filter(({ at }) => clock.now() - at < FRESH_MS),
    /** Returns the ids of the SCIM accounts with a userName, by a read (`readIds`) that deactivations share. */
    idsOf: (userName: string, readIds: () => Promise<string[]>): Promise<string[]> =>
      shared(fold(userName), readIds),
    /** Returns whether the account was an administrator when it was last seen. */
    knows: (userName: string): boolean => seen.has(fold(userName)),
    /** Records that the user list could not be read. */
    noteSilence: (): void => {
      silentUntil = clock.now() + SILENCE_MS;
    },
    /** Returns whether the user list failed recently, so that it is not read again yet. */
    isSilent: (): boolean => clock.now() < silentUntil,
    /**
     * Called for each deactivation that the cache does not answer. The first one after a pause of FRESH_MS returns at once: for a
     * single deactivation the search by the account's own name is enough. Later ones wait for one read of the user list
     * (`readList`) that they share.
     * @throws the error of `readList`
     */
    awaitSharedRead: async (readList: () => Promise<readonly ConsoleUser[]>): Promise<void> => {
      const now = clock.now();
      const isFirst = now - lastCallAt >= FRESH_MS;
      lastCallAt = now;
      if (isFirst) return;
      await shared(LIST, () => readList().then(see));
    },
  };
}
