// Creates the relay and the worker of one target, and stops them together.
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
  /** Returns how many platform calls of this process may be under way (worker.ts). */
  concurrency: () => number;
}

export interface TargetQueue {
  /** Notifies the relay of a new mark. */
  notify: () => void;
  /** Returns the time of the last finished sweep of the outbox, Unix milliseconds. */
  lastSweepAt: () => number;
  /** Stops the relay, then waits for running syncs within their deadline. */
  stop: () => Promise<void>;
}

/** Interval of sweeps, which find due marks without a notification. */
const SWEEP_MS = 500;
/** Largest number of jobs in BullMQ; other marks wait in the outbox in order of priority. */
const MOST_JOBS = 500;
/** Longest wait for running syncs at shutdown. */
const SYNC_DEADLINE_MS = 20_000;

/** Starts the relay and the worker. @param deps.outboxes outboxes of all connections of the target, by connection */
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
  const relay = createRelay(deps, { ...options, sweepMs: SWEEP_MS, mostJobs: MOST_JOBS });
  return {
    notify: () => relay.notify(),
    lastSweepAt: () => relay.lastSweepAt(),
    stop: async () => {
      await relay.stop();
      await worker.stop(SYNC_DEADLINE_MS);
    },
  };
}
