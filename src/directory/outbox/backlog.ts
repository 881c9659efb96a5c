// Reads the backlog of one target and connection in one round trip, for metrics and status: its marked resources, and the age of
// the oldest change that is not applied.
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../../guard/judge.ts';
import { PRIORITIES, type Priority } from '../records.ts';
import { RESOURCE_REASONS, toExceptionCounts, type ExceptionCounts } from './exceptions.ts';
import type { ExpectedRuns, RunReport } from './runs.ts';
import { toKindCounts } from '../guard/held-changes.ts';
import { pairsOf } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Counters of a load: a backlog far larger than that of normal operation (lua/load.lua). */
interface LoadCounts {
  /** When a worker saw the load first, Unix milliseconds of Redis; null: no worker has seen it. */
  startedAt: number | null;
  /** Number of resources that left the backlog since the start and are not in it again, by all processes. */
  done: number;
  /** Values of `done` at times of the last minute, newest first. */
  samples: { at: number; done: number }[];
}

export interface Backlog {
  /** Unix milliseconds of Redis. */
  now: number;
  /** Number of marked resources, without those that wait for a held change, or for a group whose sync was refused. */
  dirty: number;
  /** Number of resources that were delivered to the queue or whose sync is running. */
  inflight: number;
  /** Number of dead letters. */
  blocked: number;
  /** Time of the oldest dead letter, Unix milliseconds; undefined when there is none. */
  blockedSince?: number;
  /** Age of the oldest change that is not applied, in milliseconds; 0 when there is none. */
  oldestMs: number;
  /** Marks that wait for delivery to the queue, by priority. */
  priorities: Record<Priority, number>;
  /** Number of due marks in `priorities`. */
  due: number;
  /** Counters of a load; null without a load. */
  load: LoadCounts | null;
  onHold: boolean;
  /** Destructive writes that wait for approval. */
  held: Record<DestructiveKind, number>;
  /** Resources that differ from the desired state until a person acts, and targets on hold. */
  exceptions: ExceptionCounts;
  lastRun?: RunReport;
  /** End of the last run that compared everything, Unix milliseconds; undefined before the first. */
  lastSuccessAt?: number;
  /** Runs that a schedule starts; null without one. */
  expected: ExpectedRuns | null;
  /** Number of the last runs in a row that failed, or whose reads were not complete. */
  failedRuns: number;
  /** End of the first of `failedRuns`, Unix milliseconds; undefined: none. */
  failingSince?: number;
  /** Number of writes ordered by all reconcile runs, by action. */
  writes: Record<string, number>;
}

/** Counters of a load in a reply of backlog.lua; empty while nothing loads. */
type LoadReply = [] | [startedAt: string, done: number, samples: string[]];

/** Reply of backlog.lua. A text is '' where there is no such value. Times are Unix milliseconds. */
type BacklogReply = [
  tag: string,
  now: number,
  dirty: number,
  inflight: number,
  blocked: number,
  oldestSince: string,
  hold: string,
  lastRun: string,
  lastSuccessAt: string,
  heldOfKinds: number[],
  /** Action, number of its writes, action, and so on. */
  writes: string[],
  waitingOfPriorities: number[],
  exceptionsOfReasons: [count: number, since: string][],
  due: number,
  load: LoadReply,
  failedRuns: string,
  expectedSince: string,
  expectedGapMs: string,
  failingSince: string,
  blockedSince: string,
];

/** Returns the backlog of a target. */
export async function readBacklog({ scripts, keys }: StoreDeps, target: string): Promise<Backlog> {
  const args = { target, kinds: DESTRUCTIVE_KINDS, exceptions: RESOURCE_REASONS };
  const reply = (await scripts.run('backlog', keys.base, args)) as BacklogReply;
  const [_tag, now, dirty, inflight, blocked, oldestSince, hold, lastRun, lastSuccessAt, ...others] = reply;
  const [heldOfKinds, writes, waitingOfPriorities, exceptionsOfReasons, due, load, ...runs] = others;
  const [failedRuns, expectedSince, expectedGapMs, failingSince, blockedSince] = runs;
  return {
    now,
    dirty,
    inflight,
    blocked,
    ...(blockedSince === '' ? {} : { blockedSince: Number(blockedSince) }),
    due,
    load: toLoadCounts(load),
    failedRuns: Number(failedRuns),
    ...(failingSince === '' ? {} : { failingSince: Number(failingSince) }),
    oldestMs: oldestSince === '' ? 0 : Math.max(0, now - Number(oldestSince)),
    priorities: Object.fromEntries(
      PRIORITIES.map((priority, index) => [priority, waitingOfPriorities[index] ?? 0]),
    ) as Backlog['priorities'],
    onHold: hold !== '',
    held: toKindCounts(heldOfKinds),
    exceptions: toExceptionCounts(exceptionsOfReasons, hold, now),
    ...(lastRun === '' ? {} : { lastRun: JSON.parse(lastRun) as RunReport }),
    ...(lastSuccessAt === '' ? {} : { lastSuccessAt: Number(lastSuccessAt) }),
    expected: expectedSince === '' ? null : { since: Number(expectedSince), gapMs: Number(expectedGapMs) },
    writes: Object.fromEntries(pairsOf(writes).map(([action, count]) => [action, Number(count)])),
  };
}

/** Returns the counters of a reply of backlog.lua; null while nothing loads. */
function toLoadCounts(reply: LoadReply): LoadCounts | null {
  if (reply.length === 0) return null;
  const [startedAt, done, samples] = reply;
  return {
    startedAt: startedAt === '' ? null : Number(startedAt),
    done,
    samples: samples.map((text) => {
      const [at = 0, sampled = 0] = text.split(' ').map(Number);
      return { at, done: sampled };
    }),
  };
}
