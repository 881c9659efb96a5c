// Posts the events of one connection to its receiver in order. One process holds the lease for it; the others check
// periodically whether the lease is free.
import { backoffMs } from '../support/backoff.ts';
import { startRounds } from '../support/rounds.ts';
import type { Clock, Ids } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { EventStream } from '../directory/logs/event-stream.ts';
import type { Feed } from './feed.ts';
import { postToken, type ReceiverSettings } from './post.ts';

export interface Push {
  /** Stops, and aborts a running post. */
  stop: () => Promise<void>;
}

/** Lease duration, longer than two posts with the longest time-out. */
const LEASE_MS = 45_000;
const IDLE_MS = 250;
const STANDBY_MS = 2000;
const PORTION = 20;
const BACKOFF = { baseMs: 250, maxMs: 300_000 };

export function startPush(
  deps: { clock: Clock; logger: Logger; ids: Ids; random: () => number },
  { feed, stream }: { feed: Feed; stream: Pick<EventStream, 'lead' | 'resign' | 'note'> },
  settings: ReceiverSettings,
): Push {
  const { logger, random } = deps;
  const name = deps.ids.request();
  let failures = 0;
  // An error that another process noted may still be stored.
  let isNoted = true;

  /** @param found `quote` is shown to operators who ask and is not logged */
  async function fail(found: { problem: string; quote?: string; retryAfterMs?: number }): Promise<number> {
    const { problem, quote, retryAfterMs = 0 } = found;
    failures += 1;
    isNoted = true;
    if (failures === 1) logger.warn({ problem }, 'events cannot be delivered: they wait and are sent again');
    await stream.note(quote === undefined ? problem : `${problem}: ${quote}`);
    return Math.max(Math.min(retryAfterMs, BACKOFF.maxMs), backoffMs(failures, BACKOFF, random));
  }

  async function succeed(): Promise<void> {
    if (failures > 0) logger.info({ failures }, 'events are delivered again');
    failures = 0;
    isNoted = false;
    await stream.note(null);
  }

  /** @returns how long to wait before the next round, milliseconds */
  async function round(signal: AbortSignal): Promise<number> {
    if (!(await stream.lead(name, LEASE_MS))) return STANDBY_MS;
    const tokens = await feed.next(PORTION);
    for (const { jti, text } of tokens) {
      // A process that was paused for too long finds that another process holds the lease.
      if (signal.aborted || !(await stream.lead(name, LEASE_MS))) return 0;
      const delivered = await postToken(settings, text, signal);
      if (delivered.kind === 'later') return signal.aborted ? 0 : fail(delivered);
      if (delivered.kind === 'accepted') await feed.acknowledge([jti]);
      else {
        const { err, description } = delivered;
        logger.warn({ jti, err }, 'the receiver refused an event: see scim-bridge events refused');
        await feed.acknowledge([], [{ jti, err, description }]);
      }
      if (isNoted) await succeed();
    }
    return tokens.length > 0 ? 0 : IDLE_MS;
  }

  return {
    stop: startRounds(deps, round, {
      failedMs: STANDBY_MS,
      message: 'events cannot be read: tried again',
      end: () => stream.resign(name),
    }),
  };
}
