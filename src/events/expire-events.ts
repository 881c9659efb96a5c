// Deletes expired events of all connections periodically, and logs dropped events.
import { startRounds } from '../support/rounds.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { Feed } from './feed.ts';

/** Interval at which expired events are deleted. */
const EXPIRE_MS = 60_000;

/** Starts the work. @returns a function that stops it */
export function startExpiry(
  { clock, logger }: { clock: Clock; logger: Logger },
  feeds: readonly Feed[],
): () => Promise<void> {
  /** By connection: how many events were deleted before delivery since the first event, as last read. */
  const lastDropped = new Map<string, number>();

  async function expireAndLog(feed: Feed): Promise<void> {
    const { connection } = feed;
    const { dropped, pending } = await feed.expire();
    const before = lastDropped.get(connection);
    lastDropped.set(connection, dropped);
    if (before === undefined || dropped <= before) return;
    const fields = { connection, dropped: dropped - before, pending };
    logger.warn(fields, 'events were dropped: the receiver takes fewer events than there are changes');
  }

  return startRounds(clock, async () => {
    // The Redis client logs that Redis is unavailable; the next round repeats the work.
    for (const feed of feeds) await expireAndLog(feed).catch(() => undefined);
    return EXPIRE_MS;
  });
}
