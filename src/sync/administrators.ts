// Keeps what answers of the platform tell of a target's administrators for a short time, so that the deactivations of one
// run do not each ask again (ADR 0011). Roles change at the platform, so the answer is not kept for longer.
import { fold } from '../directory/records.ts';
import type { ConsoleUser } from '../platform/wire.ts';
import type { Clock } from '../support/sources.ts';

export interface Administrators {
  /** Takes note of what a list, or the answer about one account, shows. */
  see(accounts: readonly ConsoleUser[]): void;
  /** Whether an active administrator was seen a moment ago who is not among `leaving`; names in lower case. */
  remainsWithout(leaving: ReadonlySet<string>): boolean;
  /** Whether the account was an administrator when it was last seen, however long ago. */
  knows(userName: string): boolean;
  /** The question cannot be answered now and is asked again later. */
  noteSilence(): void;
  isSilent(): boolean;
  /** Told of every question: from the second within a moment on, all wait for one `look` at the list. */
  lookAround(look: () => Promise<readonly ConsoleUser[]>): Promise<void>;
}

/** A run of deactivations shares what it sees; somebody who lost the role at the console counts no longer than this. */
const MOMENT_MS = 60_000;
/** A list that failed is left alone for this long: each leaver would wait for it in vain. */
const SILENCE_MS = 30_000;

export function createAdministrators(clock: Clock): Administrators {
  /** userName of each administrator → when it was last seen as an active one; 0 = closed. */
  const seen = new Map<string, number>();
  let silentUntil = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  let looked: { at: number; done: Promise<void> } | undefined;

  function see(accounts: readonly ConsoleUser[]): void {
    for (const { username, isAdmin, isDeactivated } of accounts) {
      if (isAdmin) seen.set(fold(username), isDeactivated === true ? 0 : clock.now());
      else seen.delete(fold(username));
    }
  }

  return {
    see,
    remainsWithout: (leaving) =>
      [...seen].some(([userName, at]) => clock.now() - at < MOMENT_MS && !leaving.has(userName)),
    knows: (userName) => seen.has(fold(userName)),
    noteSilence: () => {
      silentUntil = clock.now() + SILENCE_MS;
    },
    isSilent: () => clock.now() < silentUntil,
    lookAround: async (look) => {
      const now = clock.now();
      const isFirst = now - askedAt >= MOMENT_MS;
      askedAt = now;
      if (isFirst) return;
      if (!looked || now - looked.at >= MOMENT_MS) looked = { at: now, done: look().then(see) };
      const { done } = looked;
      await done.catch((error: unknown) => {
        if (looked?.done === done) looked = undefined;
        throw error;
      });
    },
  };
}
