// The way from outbox to handler for one target: relay and worker, started and stopped together.
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { createRelay } from './relay.ts';
import { createSyncWorker, type QueueConnection, type SyncHandler } from './worker.ts';

export type { QueueConnection, SyncHandler } from './worker.ts';

export interface TargetQueueOptions {
  /** Prefix of all Redis keys of the service. */
  prefix: string;
  target: string;
  /** Resources synced at once, per process. */
  concurrency: number;
}

export interface TargetQueue {
  /** Something was marked: look soon. */
  poke: () => void;
  /** Unix milliseconds of the last look at the outbox that came to an end. */
  lastSweepAt: () => number;
  /** Stops handing over, then lets running syncs end within their deadline. */
  stop: () => Promise<void>;
}

/** The sweep that catches what no poke told of. */
const SWEEP_MS = 1000;
/** How many refs wait in BullMQ at once; the rest waits in the outbox, in order of urgency. */
const ROOM = 500;
const SYNC_DEADLINE_MS = 20_000;

/** @param outboxes one per connection that feeds the target */
export function createTargetQueue(
  deps: {
    connection: QueueConnection;
    outboxes: Map<string, Outbox>;
    handler: SyncHandler;
    clock: Clock;
    logger: Logger;
  },
  options: TargetQueueOptions,
): TargetQueue {
  const worker = createSyncWorker(deps, options);
  const relay = createRelay(deps, { ...options, sweepMs: SWEEP_MS, room: ROOM });
  return {
    poke: () => relay.poke(),
    lastSweepAt: () => relay.lastSweepAt(),
    stop: async () => {
      await relay.stop();
      await worker.stop(SYNC_DEADLINE_MS);
    },
  };
}
