// Posts the events of one connection to its receiver in order. Only one process at a time posts, the one with the lease in
// Redis; the others check periodically whether the lease is free.
import { failureReason } from '../directory/redis/why-away.ts';
import { backoffMs } from '../support/backoff.ts';
import { loggedRound, startRounds } from '../support/rounds.ts';
import type { Clock, Ids } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { EventStream } from '../directory/logs/event-stream.ts';
import type { Feed } from './feed.ts';
import { postToken, type ReceiverSettings } from './post.ts';

/** Lease duration. The lease is renewed before each post, and is longer than the longest time-out of a post. */
const LEASE_MS = 45_000;
/** Wait when no event is pending. */
const IDLE_MS = 250;
/** Wait of a process without the lease. */
const STANDBY_MS = 2000;
/** Number of events that are read and signed together; their tokens are posted one by one. */
const PORTION = 20;
/** Waits after failed posts (support/backoff.ts). */
const BACKOFF = { baseMs: 250, maxMs: 300_000 };

/**
 * Starts the delivery.
 * @param stream takes the lease (`lead`), gives it back (`resign`) and stores the last delivery error (`note`)
 * @param settings read at each post, because its token may be rotated
 */
export function startPush(
  deps: { clock: Clock; logger: Logger; ids: Ids; random: () => number },
  { feed, stream }: { feed: Feed; stream: Pick<EventStream, 'lead' | 'resign' | 'note'> },
  settings: ReceiverSettings,
) {
  const { logger, random } = deps;
  const leaseHolder = deps.ids.request();
  let failures = 0;
  // True while a delivery error may be stored: before the start of this process, another one may have stored its error.
  let mayHaveError = true;

  /** Stores and logs a failure. `quote` is stored only. @returns the wait before the next attempt, milliseconds */
  async function fail(failure: { problem: string; quote?: string; retryAfterMs?: number }): Promise<number> {
    const { problem, quote, retryAfterMs = 0 } = failure;
    failures += 1;
    mayHaveError = true;
    if (failures === 1) logger.warn({ problem }, 'events cannot be delivered: they wait and are sent again');
    await stream.note(quote === undefined ? problem : `${problem}: ${quote}`);
    return Math.max(Math.min(retryAfterMs, BACKOFF.maxMs), backoffMs(failures, BACKOFF, random));
  }

  async function succeed(): Promise<void> {
    if (failures > 0) logger.info({ failures }, 'events are delivered again');
    failures = 0;
    mayHaveError = false;
    await stream.note(null);
  }

  /** Posts one portion of events. @returns the wait before the next round, milliseconds */
  async function round(signal: AbortSignal): Promise<number> {
    // Takes or renews the lease; false: another process has the lease.
    if (!(await stream.lead(leaseHolder, LEASE_MS))) return STANDBY_MS;
    const tokens = await feed.next(PORTION);
    for (const { jti, text } of tokens) {
      // If this process was paused for too long, another one has the lease now.
      if (signal.aborted || !(await stream.lead(leaseHolder, LEASE_MS))) return 0;
      const outcome = await postToken(settings, text, signal);
      if (outcome.kind === 'later') return signal.aborted ? 0 : fail(outcome);
      if (outcome.kind === 'accepted') await feed.acknowledge([jti]);
      else {
        const { err, description } = outcome;
        logger.warn({ jti, err }, 'the receiver refused an event: see scim-bridge events refused');
        await feed.acknowledge([], [{ jti, err, description }]);
      }
      if (mayHaveError) await succeed();
    }
    return tokens.length > 0 ? 0 : IDLE_MS;
  }

  const failure = {
    failedMs: STANDBY_MS,
    message: 'events cannot be read: tried again',
    reasonOf: failureReason,
  };
  const stop = startRounds(deps.clock, loggedRound(logger, round, failure));
  return {
    /** Stops, and aborts a running post. */
    stop: async (): Promise<void> => {
      await stop();
      await stream.resign(leaseHolder).catch(() => undefined);
    },
  };
}
