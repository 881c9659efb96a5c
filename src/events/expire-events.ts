// Deletes expired events of all connections periodically, and logs dropped events.
import { failureReason } from '../directory/redis/why-away.ts';
import { loggedRound, startRounds } from '../support/rounds.ts';
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

  const expiries = feeds.map((feed) =>
    loggedRound(
      logger,
      async () => {
        await expireAndLog(feed);
        return EXPIRE_MS;
      },
      {
        failedMs: EXPIRE_MS,
        message: `expired events of the connection ${feed.connection} not deleted`,
        reasonOf: failureReason,
      },
    ),
  );
  return startRounds(clock, async (signal) => {
    for (const expire of expiries) await expire(signal);
    return EXPIRE_MS;
  });
}
