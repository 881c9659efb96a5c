// Starts relay and worker of one target, and stops them together. The worker runs the sync handler for BullMQ jobs. The handler
// stores its outcome in the outbox, so a job never fails: a retry is a new mark (docs/glossary.md) and not a retry of BullMQ.
import { setMaxListeners } from 'node:events';
import { DelayedError, Worker, type ConnectionOptions, type Job } from 'bullmq';
import type { Outbox } from '../directory/outbox/outbox.ts';
import { isStoreUnavailable } from '../directory/redis/connection.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { settledWithin } from '../support/within.ts';
import { createRelay, queueName, queuePrefix, STREAMS, type JobStream, type SyncJob } from './relay.ts';

interface TargetQueueOptions {
  /** Prefix of all Redis keys of the service. */
  prefix: string;
  target: string;
  /** Returns how many platform calls of this process may be under way; read whenever a sync begins. */
  concurrency: () => number;
}

/** Syncs one resource; resolves when its outcome is stored. An aborted signal stops it before the next write. */
export type SyncHandler = (job: SyncJob, signal: AbortSignal) => Promise<void>;

export type SyncWorker = ReturnType<typeof createSyncWorker>;

/** Number of platform calls under way for each slot of urgent syncs: few slots suffice, because deactivations are few. */
const CALLS_PER_URGENT_SYNC = 4;
/** Smallest number of urgent syncs at the same time. */
const FEWEST_URGENT_SYNCS = 2;
/** Number of syncs for each platform call that may be under way. More than one, because a sync also waits for Redis. */
const SYNCS_PER_CALL = 3;
/** Longest wait for syncs that were aborted. */
const ABORT_GRACE_MS = 2000;
/** Longest time to close the connections of idle workers. */
const CLOSE_MS = 2000;
/** Duration of BullMQ's lock on a job. After it, another process may take the job of a killed process. */
const LOCK_MS = 15_000;
/** Interval at which BullMQ looks for jobs whose lock has expired. */
const STALLED_CHECK_MS = 5000;
/** Number of times that BullMQ restarts the job of a killed process: practically no limit, because the mark has to be synced. */
const MOST_STALLS = 1000;

/** Delay of a job whose connection is not in the settings of this process, before any process takes the job again. */
const PASS_ON_MS = 100;
/** Number of times that a job of an unknown connection is passed on. After that it ends, and its mark waits for another process. */
const MOST_PASSES = 30;

interface WorkerDeps {
  /** Redis connection for BullMQ. */
  redis: ConnectionOptions;
  /** Outboxes of all connections of the target, by name of the connection. */
  outboxes: ReadonlyMap<string, Outbox>;
  handler: SyncHandler;
  clock: Clock;
  logger: Logger;
}

/**
 * Starts the workers of one target, one for each stream. During an update that adds or removes a connection, jobs of a connection
 * that this process does not know are left to the processes that know it.
 */
export function createSyncWorker(deps: WorkerDeps, options: TargetQueueOptions) {
  const { outboxes, handler, clock, logger } = deps;
  const abort = new AbortController();
  // Each running sync adds a listener to the signal. Node.js warns of a leak above ten; these listeners end with their syncs.
  setMaxListeners(0, abort.signal);
  const running = new Set<Promise<void>>();
  /** Returns how many syncs of a stream may run at the same time. */
  const slotsOf = (stream: JobStream): number =>
    stream === 'urgent'
      ? Math.max(FEWEST_URGENT_SYNCS, Math.ceil(options.concurrency() / CALLS_PER_URGENT_SYNC))
      : Math.ceil(options.concurrency() * SYNCS_PER_CALL);
  const workers = STREAMS.map((stream) => {
    const worker: Worker<SyncJob> = new Worker<SyncJob>(
      queueName(options.target, stream),
      async (job, token) => {
        if (!outboxes.has(job.data.connection)) return passOn(job, token);
        worker.concurrency = slotsOf(stream);
        const sync = runSync(job.data);
        running.add(sync);
        await sync;
        running.delete(sync);
      },
      {
        connection: deps.redis,
        prefix: queuePrefix(options.prefix, options.target),
        concurrency: slotsOf(stream),
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: MOST_STALLS,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
    );
    worker.on('error', (error) => logger.debug({ reason: error.message }, 'queue connection'));
    return worker;
  });

  /**
   * Delays the job, so that another process may take it.
   * @param token lock of this worker on the job
   * @throws DelayedError, by which BullMQ knows that the job did not end
   */
  async function passOn(job: Job<SyncJob>, token?: string): Promise<void> {
    if (job.attemptsStarted > MOST_PASSES) return;
    await job.moveToDelayed(clock.now() + PASS_ON_MS, token);
    throw new DelayedError();
  }

  /** Runs one sync. Never rejects. */
  async function runSync(job: SyncJob): Promise<void> {
    try {
      await handler(job, abort.signal);
    } catch (error) {
      // The mark remains; the relay delivers it again after the lease expires. The Redis client logs the failure.
      if (isStoreUnavailable(error)) return;
      logger.error({ err: error as Error, target: options.target, ref: job.ref }, 'sync ended unexpectedly');
    }
  }

  return {
    /** Stops fetching jobs, waits for running syncs, and aborts them after `deadlineMs`. Never rejects. */
    stop: async (deadlineMs: number): Promise<void> => {
      // A worker whose connection to a Redis cluster is lost may never close. So each wait for `closed` has a limit, and the end of
      // all running syncs is enough.
      const closed = Promise.allSettled(workers.map((worker) => worker.close()));
      if (await settledWithin(clock, closed, CLOSE_MS)) return;
      const idle = Promise.race([closed, Promise.all(running)]);
      if (!(await settledWithin(clock, idle, deadlineMs))) {
        abort.abort();
        // A sync that ignores the signal is abandoned; its lease expires and another process takes over.
        await settledWithin(clock, idle, ABORT_GRACE_MS);
      }
      await settledWithin(clock, closed, CLOSE_MS);
    },
  };
}

export type TargetQueue = ReturnType<typeof createTargetQueue>;

/** Interval of sweeps, which find due marks without a notification. */
const SWEEP_MS = 500;
/** Largest number of jobs in BullMQ; other marks wait in the outbox in order of priority. */
const MOST_JOBS = 500;
/** Longest wait for running syncs at shutdown. */
const SYNC_DEADLINE_MS = 20_000;

/** Starts the relay and the worker of one target. */
export function createTargetQueue(
  deps: WorkerDeps & {
    /** Returns whether syncs wait, because no call may be sent to the target now. */
    isPaused: () => Promise<boolean>;
  },
  options: TargetQueueOptions,
) {
  const worker = createSyncWorker(deps, options);
  const relay = createRelay(deps, { ...options, sweepMs: SWEEP_MS, mostJobs: MOST_JOBS });
  return {
    notify: relay.notify,
    lastSweepAt: relay.lastSweepAt,
    /** Stops the relay, then waits for running syncs within their deadline. */
    stop: async (): Promise<void> => {
      await relay.stop();
      // A sync that waits for the end of a pause gets nothing done. Aborted, it puts its mark back for the next process.
      const isPaused = await deps.isPaused().catch(() => false);
      await worker.stop(isPaused ? 0 : SYNC_DEADLINE_MS);
    },
  };
}
