// Defines a BullMQ job: it names a resource and does not contain the change.
import type { Priority, Ref } from '../directory/records.ts';

/** Payload of a job. */
export interface SyncJob {
  connection: string;
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
 * Returns the job id. The same delivery id gives the same job id, so adding a job twice is idempotent. BullMQ
 * refuses `:` in ids and ignores an add whose id is active, so each delivery has a new id (ADR 0002).
 */
export const jobId = (connection: string, ref: Ref, deliveryId: string): string =>
  `${connection}-${ref.replace(':', '-')}-${deliveryId}`;

/** BullMQ priorities: lower runs first. */
export const BULLMQ_PRIORITY: Record<Priority, number> = { deactivation: 1, edit: 2, new: 3, reconcile: 4 };
