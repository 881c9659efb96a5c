// Stores the provisioning log of a target in a Redis stream for a limited time: every write, and every change that was not
// written. The worker appends entries together with its next script (lua/log.lua), which saves a round trip.
import { createChainedStream, type Placed, type StreamLimits } from './chained-stream.ts';
import type { Priority, Ref } from '../records.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Actions of log entries. `none`: nothing was written; the entry has the reason. */
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
  'handOver',
  'giveBack',
  'none',
] as const;
export type LogAction = (typeof LOG_ACTIONS)[number];

/** Outcomes of log entries. `retry`: the first failure of several in a row; the sync is repeated. */
export const LOG_STATUSES = ['success', 'failure', 'retry', 'held', 'skipped'] as const;
export type LogStatus = (typeof LOG_STATUSES)[number];

/** Generation of a log entry that no mark caused. The generations of marks begin with 1. */
export const NO_GENERATION = '0';

export interface LogEntry {
  ref: Ref;
  /** userName or displayName at that time. */
  name: string;
  /** Platform id, if there is one. */
  platformId?: string;
  action: LogAction;
  status: LogStatus;
  /** Correlation id of the change that was applied; `plan:...` of a reconcile run, `approval:...` of an approval. */
  request: string;
  /** Generation of the mark with which the sync began (docs/glossary.md); `NO_GENERATION` of an entry that no mark caused. */
  generation: string;
  /** Time at which the oldest applied change was accepted, Unix milliseconds. */
  accepted: number;
  priority: Priority;
  /** Number of this attempt, counted from 1 since the last success. */
  attempt: number;
  /** Duration of the platform call, milliseconds. */
  ms?: number;
  /** Core paths and `attributes.<name>`, with the value before and after. */
  changes?: [name: string, before: unknown, after: unknown][];
  /** Ids of the users that were added or removed. */
  members?: string[];
  /** Reason (Condition.reason) and message. */
  reason?: string;
  message?: string;
  /** The platform's refusal. */
  http?: { method: string; route: string; status?: number; requestId?: string };
}

export type PlacedEntry = LogEntry & Placed;

const LOG_LIMITS: StreamLimits = { maxEntries: 50_000, maxAgeMs: 30 * 86_400_000 };

/** Name in an entry whose personal data was removed. */
const FORGOTTEN_NAME = '(forgotten)';

export type ProvisioningLog = ReturnType<typeof createProvisioningLog>;

export function createProvisioningLog(deps: StoreDeps, options: { target: string; limits?: StreamLimits }) {
  const { target, limits = LOG_LIMITS } = options;
  const stream = createChainedStream<LogEntry>(deps, {
    name: 'log',
    script: 'append_log',
    target,
    limits,
    blank: { name: FORGOTTEN_NAME },
    personal: ['name', 'changes', 'message'],
  });

  /** Returns entries and limits as scripts take them; undefined without entries. */
  const toArgs = (entries: readonly LogEntry[]): ReturnType<typeof stream.toArgs> | undefined =>
    entries.length === 0 ? undefined : stream.toArgs(entries);

  const append = async (entries: readonly LogEntry[]): Promise<void> => {
    if (entries.length > 0) await stream.append(entries);
  };

  return { ...stream, target, toArgs, append };
}
