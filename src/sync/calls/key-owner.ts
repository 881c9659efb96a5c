// Learns to which account the API key of a target belongs, its owner. The bridge never changes that account, because it could lock
// itself out. All syncs and comparisons of a process share one read. `keyOwner` waits until the read ends, `seeKeyOwner` only for a
// moment, and the other functions tell what the last read found. `current` decides whether the last read still counts, or another
// one begins: for a new key, and some time after a failure or after the answer that there is no owner.
import type { PlatformClient } from '../../platform/client.ts';
import { EndpointAbsent, PlatformResponse } from '../../platform/errors.ts';
import type { ConsoleUser } from '../../platform/wire.ts';
import { fold } from '../../directory/records.ts';
import type { Clock } from '../../support/sources.ts';
import { timeLimit } from '../../support/time-limit.ts';
import { settledWithin } from '../../support/within.ts';
import { untilAborted } from './answering.ts';

/** One read of the owner, shared by all callers. */
interface OwnerRead {
  /** The key whose owner is read. */
  key: string;
  /** Unix milliseconds. */
  startedAt: number;
  /** Undefined: the key has no owner. Rejects when the read fails. */
  account: Promise<ConsoleUser | undefined>;
  /** `open`: under way. `told`: the platform named the owner. `absent`: the key has none. `failed`: the platform did not tell. */
  state: 'open' | 'told' | 'absent' | 'failed';
  /** Unix milliseconds; 0 while the read is open. */
  endedAt: number;
  /** Number of `keyOwner` callers who wait for it. */
  waiting: number;
  /** Whether the read goes on after `seeKeyOwner` has stopped waiting. */
  isKept: boolean;
  /** Ends the read when no caller waits any more. */
  abandoned: AbortController;
}

/** Lifetime of the answer that the key has no owner. */
const KEEP_ABSENT_MS = 600_000;
/** `seeKeyOwner` waits until a read is this old, so while the platform is silent only the first syncs wait. */
const SEEN_WITHIN_MS = 2000;
/** Time after a failed read for which `seeKeyOwner` does not read again. */
const SEE_AGAIN_MS = 30_000;
/**
 * Shortest and longest time after a failed read for which `keyOwner` throws its error again; between them as long as the read took.
 * Without this time, a comparison waits for a silent platform once for each unmanaged member.
 */
const READ_AGAIN_MS = { least: 1000, most: 15_000 };
/** Longest time of a read without caller, with its wait for the rate limit. */
const KEPT_MS = 30_000;

/** Creates the memory of one target for the owner of its API key; nothing is read yet. @param deps.key returns the present key */
export function createKeyOwner(deps: {
  client: Pick<PlatformClient, 'accounts'>;
  clock: Clock;
  key: () => string;
}) {
  const { client, clock } = deps;
  let last: OwnerRead | undefined;
  /** The owner that the last successful read told. */
  let owner: ConsoleUser | undefined;

  function begin(): OwnerRead {
    const abandoned = new AbortController();
    const read: OwnerRead = {
      key: deps.key(),
      startedAt: clock.now(),
      account: Promise.resolve(undefined),
      state: 'open',
      endedAt: 0,
      waiting: 0,
      isKept: false,
      abandoned,
    };
    const end = (state: OwnerRead['state'], found?: ConsoleUser): ConsoleUser | undefined => {
      Object.assign(read, { state, endedAt: clock.now() });
      // A late answer about a former key says nothing about the present key.
      if (state !== 'failed' && last === read) owner = found;
      return found;
    };
    // Urgent: the read does not wait for a slot (`gate` in target.ts), because the syncs of leavers wait for the read.
    read.account = client.accounts.me({ urgent: true, signal: abandoned.signal }).then(
      (account) => end('told', account),
      (error: unknown) => {
        if (isWithoutOwner(error)) return end('absent');
        end('failed');
        throw error;
      },
    );
    read.account.catch(() => undefined);
    return read;
  }

  /** Ends an open read that no caller needs any more; it does not count as failed. */
  function abandonUnused(read: OwnerRead): void {
    if (read.state !== 'open' || read.waiting > 0 || read.isKept) return;
    if (last === read) last = undefined;
    read.abandoned.abort();
  }

  /**
   * Returns the read that counts now, and begins one if there is none.
   * @param pauseAfter returns for how long after a failed read no other read begins, milliseconds
   */
  function current(pauseAfter: (failed: OwnerRead) => number): OwnerRead {
    if (!last || isOver(last, pauseAfter)) last = begin();
    return last;
  }

  /** Returns whether a read is about another key, or its result is too old. An owner counts until the key changes. */
  function isOver(read: OwnerRead, pauseAfter: (failed: OwnerRead) => number): boolean {
    const age = clock.now() - read.endedAt;
    if (read.key !== deps.key()) return true;
    if (read.state === 'absent') return age > KEEP_ABSENT_MS;
    return read.state === 'failed' && age > pauseAfter(read);
  }

  /** Waits up to SEEN_WITHIN_MS until the platform tells the key's owner; not if it is known or a read has just failed. */
  async function seeKeyOwner(): Promise<void> {
    const read = current(() => SEE_AGAIN_MS);
    if (read.state !== 'open') return;
    if (!read.isKept) {
      read.isKept = true;
      timeLimit(KEPT_MS).addEventListener('abort', () => {
        read.isKept = false;
        abandonUnused(read);
      });
    }
    await settledWithin(clock, read.account, read.startedAt + SEEN_WITHIN_MS - clock.now());
  }

  return {
    /**
     * Returns the folded userName of the API key's owner; waits for the platform if it is not known yet. Undefined: the key has no
     * owner, or the tenant does not tell it.
     * @throws PlatformError while the owner cannot be read, PlatformAborted when the signal aborts; the error of Redis
     */
    keyOwner: async (signal: AbortSignal): Promise<string | undefined> => {
      const read = current(({ startedAt, endedAt }) =>
        Math.max(READ_AGAIN_MS.least, Math.min(READ_AGAIN_MS.most, endedAt - startedAt)),
      );
      read.waiting++;
      try {
        const account = await untilAborted(read.account, signal, {
          method: 'GET',
          route: '/api/v1/users/me',
        });
        return account && fold(account.username);
      } finally {
        read.waiting--;
        abandonUnused(read);
      }
    },
    seeKeyOwner,
    /** Returns the folded userName of the last owner that was read, also for a moment after the key was replaced; undefined: none. */
    knownKeyOwner: (): string | undefined => owner && fold(owner.username),
    /** Returns whether the platform has told the owner of the present key, or that there is none. Else `knownKeyOwner` may be old. */
    isKeyOwnerTold: (): boolean =>
      last?.key === deps.key() && (last.state === 'told' || last.state === 'absent'),
    /** Returns whether the API key belongs to an active administrator; waits as `seeKeyOwner`, and returns false when unknown. */
    isOwnedByAdministrator: async (): Promise<boolean> => {
      await seeKeyOwner();
      return last?.state === 'told' && owner?.isAdmin === true && owner.isDeactivated !== true;
    },
  };
}

/**
 * Returns whether an error means that the tenant lacks this endpoint, or the key belongs to no person. A proxy may give the same
 * answer for a while, so the endpoint is asked again after KEEP_ABSENT_MS.
 */
function isWithoutOwner(error: unknown): boolean {
  const isRefused = error instanceof PlatformResponse && [400, 403, 404].includes(error.status);
  return isRefused || error instanceof EndpointAbsent;
}
