// Deletes expired events of all connections periodically, and logs events that no receiver took.
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { Feed } from './feed.ts';

const TEND_MS = 60_000;

export function startTending(
  { clock, logger }: { clock: Clock; logger: Logger },
  feeds: readonly Feed[],
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const dropped = new Map<string, number>();

  async function tend(feed: Feed): Promise<void> {
    const { connection } = feed;
    const { dropped: now, pending } = await feed.tend();
    const before = dropped.get(connection);
    dropped.set(connection, now);
    if (before === undefined || now <= before) return;
    const lost = { connection, dropped: now - before, pending };
    logger.warn(lost, 'events were dropped: the receiver takes fewer than there are changes');
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Unavailability of Redis is logged by its connection; the next run repeats the work.
      for (const feed of feeds) await tend(feed).catch(() => undefined);
      await clock.sleep(TEND_MS, stopping.signal);
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
