// BullMQ job → handler(ref). The handler keeps its own books in the outbox, so a job never fails: what has to be
// done again is a mark, not a retry of BullMQ.
import { Worker, type ConnectionOptions } from 'bullmq';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { settledWithin } from '../support/within.ts';
import { queueName, queuePrefix, STREAMS, type SyncJob } from './jobs.ts';

/** A connection as BullMQ takes it; the composition root opens it. */
export type QueueConnection = ConnectionOptions;

export interface WorkerOptions {
  prefix: string;
  target: string;
  /** Resources synced at once, per process. */
  concurrency: number;
}

/** Brings one resource; resolves when its outcome is recorded. The signal asks it to stop before the next write. */
export type SyncHandler = (job: SyncJob, signal: AbortSignal) => Promise<void>;

export interface SyncWorker {
  /** Stops fetching, lets running syncs end, and after `deadlineMs` asks them to stop. It ends in any case. */
  stop(deadlineMs: number): Promise<void>;
}

const URGENT_SLOTS = 2;
const ABORT_GRACE_MS = 2000;
/** How long the connections of workers that have nothing to do may take to close. */
const CLOSE_MS = 2000;
const LOCK_MS = 15_000;
const STALLED_CHECK_MS = 5000;

export function createSyncWorker(
  deps: { connection: ConnectionOptions; handler: SyncHandler; clock: Clock; logger: Logger },
  options: WorkerOptions,
): SyncWorker {
  const { handler, clock, logger } = deps;
  const abort = new AbortController();
  const running = new Set<Promise<void>>();
  const workers = STREAMS.map((stream) => {
    const worker = new Worker<SyncJob>(
      queueName(options.target, stream),
      async (job) => {
        const sync = bring(job.data);
        running.add(sync);
        await sync;
        running.delete(sync);
      },
      {
        connection: deps.connection,
        prefix: queuePrefix(options.prefix, options.target),
        concurrency:
          stream === 'urgent'
            ? Math.max(URGENT_SLOTS, Math.ceil(options.concurrency / 4))
            : options.concurrency,
        // A job whose process was killed before it took its lease blocks its id until its lock is over.
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: 1000,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
    );
    worker.on('error', (error) => logger.debug({ reason: error.message }, 'queue connection'));
    return worker;
  });

  async function bring(job: SyncJob): Promise<void> {
    try {
      await handler(job, abort.signal);
    } catch (error) {
      // The mark is still there: it is handed over again when the lease runs out.
      logger.error({ err: error as Error, target: options.target, ref: job.ref }, 'sync ended unexpectedly');
    }
  }

  return {
    stop: async (deadlineMs) => {
      // A connection to a cluster that is lost just now may never say that it is closed: what counts are the syncs.
      const closed = Promise.allSettled(workers.map((worker) => worker.close()));
      if (await settledWithin(clock, closed, CLOSE_MS)) return;
      const idle = Promise.race([closed, Promise.all(running)]);
      if (!(await settledWithin(clock, idle, deadlineMs))) {
        abort.abort();
        // A sync that does not heed the signal is abandoned: its lease runs out and another process takes over.
        await settledWithin(clock, idle, ABORT_GRACE_MS);
      }
      await settledWithin(clock, closed, CLOSE_MS);
    },
  };
}
