// Looks at an account of a person at the platform. A link has only what the bridge wrote or read last: somebody may have opened or
// deleted the account since.
import { setTimeout as after } from 'node:timers/promises';
import type { Link } from '../../directory/outbox/link.ts';
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import { timeLimit } from '../../support/time-limit.ts';
import { isAbsent, ListAwaited } from '../../sync/calls/absence.ts';
import { isGone } from '../../sync/calls/failures.ts';
import type { Target } from '../../sync/target.ts';

/** State of an account at the platform. `unread`: the platform gave no answer that shows it. */
export type SeenAccount = 'active' | 'closed' | 'gone' | 'unread';

/**
 * Returns the state of the account with this platform id; undefined: the settings do not have the target, or no id is known.
 * @param account a link, or an id alone
 */
export type LookAtAccount = (
  target: string,
  account: Pick<Link, 'id' | 'core'>,
) => Promise<SeenAccount | undefined>;

/** Time for the calls about one account, milliseconds. */
const LOOK_MS = 8000;

/** Time for which a target that did not answer in LOOK_MS is not called again, milliseconds: an order waits once for each target. */
const SILENT_MS = 60_000;

/** Pause between two requests of the list. */
const ASK_AGAIN_MS = 1000;

interface AccountLookOptions {
  /** Longest wait for the whole list that proves an absence, milliseconds; default LOOK_MS. The list goes on after it. */
  listMs?: number;
  /** Ends the wait for the whole list. */
  signal?: AbortSignal;
}

/**
 * Creates a look that remembers which accounts are gone and, for SILENT_MS, which targets do not answer.
 * @param targets of the settings
 */
export function createAccountLook(
  targets: Iterable<Target>,
  options: AccountLookOptions = {},
): LookAtAccount {
  const byName = new Map([...targets].map((target) => [target.name, target]));
  /** `<target> <platform id>` of accounts that are proven gone. The platform uses no id again. */
  const gone = new Set<string>();
  /** By target: until when it counts as silent, milliseconds of `performance.now()`. */
  const silentUntil = new Map<string, number>();
  return async (name, account) => {
    const target = byName.get(name);
    if (!target || account.id === undefined) return undefined;
    if (performance.now() < (silentUntil.get(name) ?? 0)) return 'unread';
    const signal = timeLimit(LOOK_MS);
    try {
      const { active } = await target.client.users.get(account.id, { signal });
      if (active === undefined) return 'unread';
      return active ? 'active' : 'closed';
    } catch (error) {
      // Each call takes its budget from Redis, so Redis may have failed, and not the platform.
      if (!signal.aborted && isStoreFailure(error)) throw error;
      if (signal.aborted) silentUntil.set(name, performance.now() + SILENT_MS);
      if (!isGone(error)) return 'unread';
      // A proxy may answer 404 too.
      const key = `${name} ${account.id}`;
      if (!gone.has(key) && !(await isProvenAbsent(target, account, options))) return 'unread';
      gone.add(key);
      return 'gone';
    }
  };
}

/** Waits for the whole list of the platform, which proves the absence. False if the time ends first, or the list is unreadable. */
async function isProvenAbsent(
  target: Target,
  account: Pick<Link, 'id' | 'core'>,
  { listMs = LOOK_MS, signal }: AccountLookOptions,
): Promise<boolean> {
  const limit = timeLimit(listMs);
  const ended = signal ? AbortSignal.any([limit, signal]) : limit;
  for (;;) {
    try {
      return await isAbsent({ target, call: { signal: timeLimit(LOOK_MS) } }, 'User', account);
    } catch (error) {
      if (!(error instanceof ListAwaited) || ended.aborted) return false;
      await after(ASK_AGAIN_MS, undefined, { signal: ended }).catch(() => undefined);
    }
  }
}
