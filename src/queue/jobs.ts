// Defines a BullMQ job: it names a resource and does not contain the change.
import type { Lane, Ref } from '../directory/records.ts';

/** Payload of a job. */
export interface SyncJob {
  connection: string;
  ref: Ref;
  lane: Lane;
}

/** Each target has two queues, so that a deactivation never waits for the sync of a large group. */
export const STREAMS = ['urgent', 'regular'] as const;
export type JobStream = (typeof STREAMS)[number];

export const streamOf = (lane: Lane): JobStream => (lane === 'deactivation' ? 'urgent' : 'regular');

export const queueName = (target: string, stream: JobStream): string => `${target}.${stream}`;

/** Returns the key prefix of a target's queues, with a hash tag as BullMQ requires for Redis Cluster. */
export const queuePrefix = (prefix: string, target: string): string => `${prefix}:{queue.${target}}`;

/**
 * Returns the job id. The same delivery id (`ticket`) gives the same job id, so adding a job twice is idempotent. BullMQ
 * refuses `:` in ids and ignores an add whose id is active, so each delivery has a new ticket (ADR 0002).
 */
export const jobId = (connection: string, ref: Ref, ticket: string): string =>
  `${connection}-${ref.replace(':', '-')}-${ticket}`;

/** BullMQ priorities: lower runs first. */
export const PRIORITY: Record<Lane, number> = { deactivation: 1, edit: 2, new: 3, reconcile: 4 };
