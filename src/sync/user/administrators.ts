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

/** Creates the empty cache of one target. */
export function createAdministrators(clock: Clock) {
  /** Time when each administrator was last seen active, by folded userName; 0: deactivated. */
  const seen = new Map<string, number>();
  let silentUntil = 0;
  /** Time of the last call of `awaitSharedRead`. */
  let lastCallAt = Number.NEGATIVE_INFINITY;
  /** The read of the list that deactivations share. */
  let sharedRead: { at: number; done: Promise<void> } | undefined;

  /** Stores which accounts of an answer are administrators, and forgets those that no longer are. */
  function see(accounts: readonly ConsoleUser[]): void {
    for (const { username, isAdmin, isDeactivated } of accounts) {
      if (isAdmin) seen.set(fold(username), isDeactivated === true ? 0 : clock.now());
      else seen.delete(fold(username));
    }
  }

  return {
    see,
    /** Returns whether an active administrator who is not in `leaving` (folded userNames) was seen recently. */
    remainsWithout: (leaving: ReadonlySet<string>): boolean =>
      [...seen].some(([userName, at]) => clock.now() - at < FRESH_MS && !leaving.has(userName)),
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
      if (!sharedRead || now - sharedRead.at >= FRESH_MS)
        sharedRead = { at: now, done: readList().then(see) };
      const { done } = sharedRead;
      await done.catch((error: unknown) => {
        if (sharedRead?.done === done) sharedRead = undefined;
        throw error;
      });
    },
  };
}
