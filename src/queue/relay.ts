// Moves due marks from the outbox (docs/glossary.md) to BullMQ jobs, which name a resource and do not contain the change.
// Several relays may run in parallel without a lock.
import { Queue, type ConnectionOptions } from 'bullmq';
import type { Claim, Outbox } from '../directory/outbox/outbox.ts';
import type { Priority, Ref } from '../directory/records.ts';
import { failureReason } from '../directory/redis/why-away.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { settledWithin } from '../support/within.ts';

/** Payload of a job. */
export interface SyncJob {
  /** Name of the connection (docs/glossary.md). */
  connection: string;
  /** `User:<id>` or `Group:<id>`. */
  ref: Ref;
  priority: Priority;
}

/** The two queues of each target. A deactivation has a queue of its own, so that it never waits for the sync of a large group. */
export const STREAMS = ['urgent', 'regular'] as const;
export type JobStream = (typeof STREAMS)[number];

export const streamOf = (priority: Priority): JobStream =>
  priority === 'deactivation' ? 'urgent' : 'regular';

export const queueName = (target: string, stream: JobStream): string => `${target}.${stream}`;

/** Returns the key prefix of a target's queues, with a hash tag as BullMQ requires for Redis Cluster. */
export const queuePrefix = (prefix: string, target: string): string => `${prefix}:{queue.${target}}`;

/**
 * Returns the job id (docs/adr/0002-marks-deliveries-leases.md). The same delivery id gives the same job id, so adding a job twice
 * is idempotent. BullMQ refuses `:` in ids, and ignores an added job whose id is active, so each delivery has a new id.
 */
export const jobId = (connection: string, ref: Ref, deliveryId: string): string =>
  `${connection}-${ref.replace(':', '-')}-${deliveryId}`;

/** BullMQ priorities: lower runs first. */
export const BULLMQ_PRIORITY: Record<Priority, number> = { deactivation: 1, edit: 2, new: 3, reconcile: 4 };

interface RelayOptions {
  /** Prefix of all Redis keys of the service. */
  prefix: string;
  target: string;
  /** Interval at which the outbox is swept for due marks without a notification. */
  sweepMs: number;
  /** Largest number of jobs in BullMQ; other marks wait in the outbox in order of priority. */
  mostJobs: number;
}

export type Relay = ReturnType<typeof createRelay>;

/** Largest number of marks that one script takes from the outbox. */
const CLAIM_LIMIT = 200;
/** Pause between two sweeps while notifications arrive, so that the marks of this pause become jobs together. */
const PORTION_MS = 10;
/** Longest wait for the last sweep at shutdown; its marks remain in the outbox. */
const LAST_SWEEP_MS = 3000;
const SWEEP_FAILED = 'due changes did not reach the queue: tried again';

/** Starts the relay of one target. @param deps.outboxes outboxes of all connections of the target, by name of the connection */
export function createRelay(
  deps: {
    /** Redis connection for BullMQ. */
    redis: ConnectionOptions;
    outboxes: ReadonlyMap<string, Outbox>;
    clock: Clock;
    logger: Logger;
  },
  options: RelayOptions,
) {
  const { redis, outboxes, clock, logger } = deps;
  const queues = new Map<JobStream, Queue<SyncJob>>(
    STREAMS.map((stream) => [
      stream,
      new Queue<SyncJob>(queueName(options.target, stream), {
        connection: redis,
        prefix: queuePrefix(options.prefix, options.target),
      }),
    ]),
  );
  // An error event without a listener would end the process. The listener does nothing, because `run` logs the failed calls.
  for (const queue of queues.values()) queue.on('error', () => undefined);
  const stopping = new AbortController();
  /** Aborted to end the pause between two sweeps. */
  let interrupt = new AbortController();
  /** Whether a notification arrived since the last sweep began. */
  let notified = false;
  /** Connections whose last sweep failed; of consecutive failures only the first is logged. */
  let failing = new Set<string>();
  let lastSweepAt = clock.now();

  async function addJobs(connection: string, claims: Claim[]): Promise<void> {
    for (const [stream, queue] of queues) {
      const jobs = claims
        .filter((claim) => streamOf(claim.priority) === stream)
        .map(({ ref, deliveryId, priority }) => ({
          name: 'sync',
          data: { connection, ref, priority },
          opts: {
            jobId: jobId(connection, ref, deliveryId),
            priority: BULLMQ_PRIORITY[priority],
            removeOnComplete: true,
            removeOnFail: true,
          },
        }));
      if (jobs.length > 0) await queue.addBulk(jobs);
    }
  }

  /** Moves the due marks of an outbox until none is left, or `mostJobs` is reached. */
  async function sweepOutbox(connection: string, outbox: Outbox): Promise<void> {
    for (;;) {
      const claims = await outbox.claim(CLAIM_LIMIT, options.mostJobs);
      if (claims.length > 0) await addJobs(connection, claims);
      if (claims.length < CLAIM_LIMIT || stopping.signal.aborted) return;
    }
  }

  /** Sweeps all outboxes. A failure of one connection is logged, and does not stop the others. */
  async function sweep(): Promise<void> {
    const failures = new Map<string, unknown>();
    for (const [connection, outbox] of outboxes)
      await sweepOutbox(connection, outbox).catch((error: unknown) => failures.set(connection, error));
    // Finishes a decision about held changes that a killed process has carried out for some of these changes only.
    for (const [connection, { guardStore }] of outboxes)
      await guardStore.finishLast().catch((error: unknown) => failures.set(connection, error));
    for (const [connection, error] of failures) {
      if (failing.has(connection)) continue;
      logger.warn({ target: options.target, connection, reason: failureReason(error) }, SWEEP_FAILED);
    }
    failing = new Set(failures.keys());
  }

  /** Sweeps at intervals and after notifications, until the relay is stopped. */
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      notified = false;
      await sweep();
      lastSweepAt = clock.now();
      if (notified) {
        await clock.sleep(PORTION_MS, stopping.signal);
        continue;
      }
      await clock.sleep(options.sweepMs, interrupt.signal);
      interrupt = new AbortController();
    }
  }

  const running = run();
  return {
    notify: (): void => {
      notified = true;
      interrupt.abort();
    },
    /** Returns the end of the last sweep, failed or not; before the first, the start of the relay. Unix milliseconds. */
    lastSweepAt: (): number => lastSweepAt,
    stop: async (): Promise<void> => {
      stopping.abort();
      interrupt.abort();
      const closed = running.then(() =>
        Promise.allSettled([...queues.values()].map((queue) => queue.close())),
      );
      await settledWithin(clock, closed, LAST_SWEEP_MS);
    },
  };
}
