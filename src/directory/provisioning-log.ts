// What was done at a target and what was not, entry by entry, kept for a while in a Redis stream. The worker writes an
// entry with the next step that it records anyway (scripts/shared.lua, write_log), so it costs no round trip.
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Keyspace } from './keys.ts';
import type { Lane, Ref } from './records.ts';
import type { Scripts } from './scripts.ts';

/** What was done; `none`: nothing was, and the status says why. */
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
  /** Correlation id of the change that was applied; `plan:...` of a reconcile run or a decision. */
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

/** `id` is the stream's; its first part is the time in Unix milliseconds of Redis. */
export type PlacedEntry = LogEntry & { id: string; at: number };

export interface LogLimits {
  maxEntries: number;
  maxAgeMs: number;
}

export const LOG_LIMITS: LogLimits = { maxEntries: 50_000, maxAgeMs: 30 * 86_400_000 };

const PORTION = 500;

export type ProvisioningLog = ReturnType<typeof createProvisioningLog>;

export function createProvisioningLog(
  deps: { redis: Redis; scripts: Scripts; keys: Keyspace },
  options: { target: string; limits?: LogLimits },
) {
  const { redis, scripts, keys } = deps;
  const { target, limits = LOG_LIMITS } = options;
  const stream = keys.key('log', target);

  /** As scripts take it; undefined when there is nothing to write. */
  const toArgs = (entries: string[]): (LogLimits & { entries: string[] }) | undefined =>
    entries.length === 0 ? undefined : { ...limits, entries };

  async function append(entries: string[]): Promise<void> {
    const log = toArgs(entries);
    if (log) await scripts.run('append_log', keys.base, { target, log });
  }

  /** Newest first, in portions, back to `since` (Unix milliseconds). */
  async function* newest(since = 0): AsyncGenerator<PlacedEntry[]> {
    let before = '+';
    for (;;) {
      const found = await redis.xrevrange(stream, before, String(since), 'COUNT', PORTION);
      const last = found.at(-1);
      if (!last) return;
      yield found.map(([id, fields]) => ({ ...parseEntry(fields), id, at: timeOf(id) }));
      before = `(${last[0]}`;
    }
  }

  /**
   * Whether nothing was altered or taken out since it was written, as far as the log goes back: every hash covers the
   * entry and the hash before it. @returns the id of the first entry that does not fit, or undefined
   */
  async function firstBroken(): Promise<string | undefined> {
    let after = '-';
    let chained: string | undefined;
    for (;;) {
      const found = await redis.xrange(stream, after, '+', 'COUNT', PORTION);
      for (const [id, [, text = '', , hash]] of found) {
        if (chained !== undefined && chainHash(chained, text) !== hash) return id;
        chained = hash;
      }
      const last = found.at(-1);
      if (!last) break;
      after = `(${last[0]}`;
    }
    const newest = await redis.get(keys.key('logChain', target));
    return chained !== undefined && newest !== chained ? 'the end' : undefined;
  }

  /** Id of the newest entry; undefined while there is none. */
  const newestId = async (): Promise<string | undefined> =>
    (await redis.xrevrange(stream, '+', '-', 'COUNT', 1))[0]?.[0];

  return { target, toArgs, append, newest, newestId, firstBroken, size: () => redis.xlen(stream) };
}

const timeOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));

const chainHash = (before: string, text: string): string =>
  createHash('sha1')
    .update(before + text)
    .digest('hex');

/** Fields are `e`, the entry, `h`, its hash. */
const parseEntry = ([, text = '{}']: string[]): LogEntry => JSON.parse(text) as LogEntry;
