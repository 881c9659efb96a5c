// Stores what was done at a target and what was not, entry by entry, for a limited time in a Redis stream. The worker writes an
// entry with the next step that it records anyway (lua/log.lua), so it costs no round trip.
import type { Redis } from 'ioredis';
import { createChainedStream, type Placed } from './chained-stream.ts';
import type { Keyspace } from '../keys.ts';
import type { Lane, Ref } from '../records.ts';
import type { Scripts } from '../redis/scripts.ts';

/** The action; `none`: nothing was done, and the status says why. */
export const LOG_ACTIONS = [
  'create',
  'adopt',
  'update',
  'setAttribute',
  'activate',
  'deactivate',
  'delete',
  'rename',
  'addMembers',
  'removeMembers',
  'none',
] as const;
export type LogAction = (typeof LOG_ACTIONS)[number];

/** `retry`: failed for the first time in a row, and is tried again. */
export const LOG_STATUSES = ['success', 'failure', 'retry', 'held', 'skipped'] as const;
export type LogStatus = (typeof LOG_STATUSES)[number];

export interface LogEntry {
  ref: Ref;
  /** userName or displayName at that time. */
  name: string;
  /** The platform's id, where there was one. */
  platformId?: string;
  action: LogAction;
  status: LogStatus;
  /** Correlation id of the change that was applied; `plan:...` of a reconcile run, `approval:...` of a decision. */
  request: string;
  /** Generation of the desired state that was applied. */
  generation: string;
  /** Unix milliseconds at which the oldest change in it was accepted. */
  accepted: number;
  lane: Lane;
  /** Counts from 1 since the last success. */
  attempt: number;
  /** How long the platform took, milliseconds. */
  ms?: number;
  /** Core paths and `attributes.<name>`, with the value before and after. */
  changes?: [name: string, before: unknown, after: unknown][];
  /** Ids of the users that were added or removed. */
  members?: string[];
  /** Stable word for why not (Condition.reason), and a sentence. */
  reason?: string;
  message?: string;
  /** The platform's refusal. */
  http?: { method: string; route: string; status?: number; requestId?: string };
}

export type PlacedEntry = LogEntry & Placed;

export interface LogLimits {
  maxEntries: number;
  maxAgeMs: number;
}

export const LOG_LIMITS: LogLimits = { maxEntries: 50_000, maxAgeMs: 30 * 86_400_000 };

export type ProvisioningLog = ReturnType<typeof createProvisioningLog>;

export function createProvisioningLog(
  deps: { redis: Redis; scripts: Scripts; keys: Keyspace },
  options: { target: string; limits?: LogLimits },
) {
  const { redis, scripts, keys } = deps;
  const { target, limits = LOG_LIMITS } = options;
  const kept = createChainedStream<LogEntry>(redis, {
    ...{ stream: keys.key('log', target), chain: keys.key('logChain', target) },
  });

  /** As scripts take it; undefined when there is nothing to write. */
  const toArgs = (entries: string[]): (LogLimits & { entries: string[] }) | undefined =>
    entries.length === 0 ? undefined : { ...limits, entries };

  async function append(entries: string[]): Promise<void> {
    const log = toArgs(entries);
    if (log) await scripts.run('append_log', keys.base, { target, log });
  }

  return { target, toArgs, append, ...kept };
}
