// Describes a BullMQ job: the name of a resource, never what happened to it.
import type { Lane, Ref } from '../directory/records.ts';

/** The whole payload of a job. */
export interface SyncJob {
  connection: string;
  ref: Ref;
  lane: Lane;
}

/** Every target has two queues, so that a deactivation never waits for a worker that fills a large group. */
export const STREAMS = ['urgent', 'regular'] as const;
export type JobStream = (typeof STREAMS)[number];

export const streamOf = (lane: Lane): JobStream => (lane === 'deactivation' ? 'urgent' : 'regular');

export const queueName = (target: string, stream: JobStream): string => `${target}.${stream}`;

/** Keys of one target's queues share a hash tag, as BullMQ asks for Redis Cluster. */
export const queuePrefix = (prefix: string, target: string): string => `${prefix}:{queue.${target}}`;

/**
 * The same ticket gives the same job id, so adding a job twice is harmless. BullMQ refuses `:` in ids and drops an
 * add whose id is active; a new ticket per hand-over avoids that (ADR 0002).
 */
export const jobId = (connection: string, ref: Ref, ticket: string): string =>
  `${connection}-${ref.replace(':', '-')}-${ticket}`;

/** BullMQ priorities: lower runs first. */
export const PRIORITY: Record<Lane, number> = { deactivation: 1, edit: 2, new: 3, reconcile: 4 };
