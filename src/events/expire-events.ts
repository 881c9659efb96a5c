// Deletes expired events of all connections periodically, and logs dropped events.
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { Feed } from './feed.ts';

/** Interval at which expired events are deleted. */
const EXPIRE_MS = 60_000;

export function startExpiry(
  { clock, logger }: { clock: Clock; logger: Logger },
  feeds: readonly Feed[],
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
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

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Unavailability of Redis is logged by its connection; the next run repeats the work.
      for (const feed of feeds) await expireAndLog(feed).catch(() => undefined);
      await clock.sleep(EXPIRE_MS, stopping.signal);
    }
  }

  const running = feeds.length > 0 ? run() : Promise.resolve();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
