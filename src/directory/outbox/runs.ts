// Stores the lock of a reconcile run, and what the run keeps for the next one: its report, the rules that it mapped by
// (mapped-by.ts), where reads that are spread over several runs continue, and which groups it found equal.
import type { Coverage } from './coverage.ts';
import type { ExceptionCounts } from './exceptions.ts';
import { createMappedBy, isReturned } from './mapped-by.ts';
import type { Ref } from '../records.ts';
import { inPortions } from '../redis/portions.ts';
import { redisTime } from '../redis/redis-time.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/**
 * `drifted`: differences were only reported. `held`: changes wait for approval. `blocked`: dead letters remain, people wait for a
 * refused group, or conflicts need a person. `unproven`: a list was incomplete. `incomplete`: desired resources are missing.
 * `failed`: the run ended with an error.
 */
export type Outcome = 'converged' | 'drifted' | 'held' | 'blocked' | 'unproven' | 'incomplete' | 'failed';

/** Counts of the resources of each kind by state (coverage.ts). */
export interface CoverageOfKinds {
  users: Coverage;
  groups: Coverage;
}

/** Report of a run. Times are Unix milliseconds by the clock of Redis. */
export interface RunReport {
  /** Name of the run: `plan:<id>`, which is also the request id of its marks. */
  run: string;
  startedAt: number;
  endedAt: number;
  outcome: Outcome;
  /** Entries of the plan by action, without those that no run writes: rejected, held, or left out by the policy. */
  counts: Record<string, number>;
  /** Number of compared resources. */
  users: number;
  groups: number;
  /** Coverage at the end of the run; undefined in a failed run. */
  coverage?: CoverageOfKinds;
  /** Differences caused at the platform, by action and cause. */
  drift?: DriftCount[];
  /** Conflicts at the end of the run, without those that are dead letters; absent when there is none. */
  conflicts?: Conflicts;
  /** Exceptions at the end of the run; they are no part of the outcome. */
  exceptions?: ExceptionCounts;
  /** Reason of the outcome `unproven` or `failed`. */
  message?: string;
}

/** Returns whether a run with this outcome compared everything. */
export const comparesAll = ({ outcome }: Pick<RunReport, 'outcome'>): boolean =>
  outcome !== 'unproven' && outcome !== 'failed';

/** Differences that no write resolves before a person has acted, such as an attribute of another type. */
export interface Conflicts {
  count: number;
  /** Reason of the first conflict. */
  reason: string;
}

/** Number of differences with one action and cause (reconcile/entry.ts). */
export interface DriftCount {
  action: string;
  cause: string;
  count: number;
}

/** Runs that a schedule starts: since when, Unix milliseconds, and the longest time between two of them. */
export interface ExpectedRuns {
  since: number;
  gapMs: number;
}

export interface RunState {
  last?: RunReport;
  /** End of the last run that compared everything, Unix milliseconds. */
  lastSuccessAt?: number;
  /**
   * End of the last run that compared everything and left no difference to write or to decide, Unix milliseconds. The changes of
   * people who wait for the removal from a refused group may be left.
   */
  convergedAt?: number;
}

/**
 * Names of the slow reads, which need a call for each resource: values of users, and members of groups. Each run continues such a
 * read where the last run ended.
 */
export type Cursor = 'values' | 'members';

/** A group whose members were found equal, with the platform's time of its last change. */
export interface SeenGroup {
  ref: Ref;
  changedAt: string;
  /** `hashOfLink` of the group's link before the read (drift.ts). */
  link: string;
}

/** Largest number of groups that one script notes. */
const SEEN_PORTION = 1000;

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore(deps: StoreDeps, options: { target: string }) {
  const { redis, scripts, keys } = deps;
  const { target } = options;
  const state = keys.key('reconcile', target);
  /** Family and id of the lock: `run:<target>` has the fence of the run that took it. */
  const lease = `run:${target}`;
  const { mappedBy, noteMapped, noteAnew } = createMappedBy(deps, options);

  /** Takes the lock of a reconcile run. @returns the fence; undefined while another run holds the lock */
  async function take(ttlMs: number): Promise<string | undefined> {
    const fence = String(await redis.incr(keys.key('runs')));
    const taken = await redis.set(keys.key(lease), fence, 'PX', ttlMs, 'NX');
    return taken === null ? undefined : fence;
  }

  /** Renews the lock. @returns false when it is lost */
  async function keep(fence: string, ttlMs: number): Promise<boolean> {
    const [tag] = await scripts.run('lead', keys.base, { lease, name: fence, ttlMs });
    return tag === 'held';
  }

  /** Releases the lock; does nothing when it is already lost. */
  const release = async (fence: string): Promise<void> => {
    await scripts.run('lead', keys.base, { lease, name: fence, ttlMs: 0 });
  };

  /**
   * Returns the time of Redis, Unix milliseconds. Reports have this time: the runs of several processes are compared by it, and
   * alerts by the clock of the monitoring.
   */
  const now = (): Promise<number> => redisTime(redis);

  const isRunning = async (): Promise<boolean> => (await redis.exists(keys.key(lease))) === 1;

  /**
   * Stores the report of a run, and counts a run that failed or did not compare everything.
   * @param was.hasComparedAll true: the run compared everything that is stored, although its outcome may be `unproven`
   * @param was.hasConverged true: `convergedAt` becomes the end of this run, although its outcome may be `blocked`
   */
  async function end(
    report: RunReport,
    {
      hasComparedAll = comparesAll(report),
      hasConverged = report.outcome === 'converged',
    }: { hasComparedAll?: boolean; hasConverged?: boolean } = {},
  ): Promise<void> {
    const last = JSON.stringify(report);
    if (!hasComparedAll) {
      await redis.hset(state, { last });
      const failures = await redis.hincrby(state, 'failures', 1);
      if (failures === 1) await redis.hset(state, { failingSince: String(report.endedAt) });
    } else {
      const endedAt = String(report.endedAt);
      const converged = hasConverged ? { convergedAt: endedAt } : {};
      await redis.hset(state, {
        last,
        lastSuccessAt: endedAt,
        failures: '0',
        failingSince: '',
        ...converged,
      });
    }
  }

  async function read(): Promise<RunState> {
    const [last, lastSuccessAt, convergedAt] = await redis.hmget(
      state,
      'last',
      'lastSuccessAt',
      'convergedAt',
    );
    return {
      ...(last ? { last: JSON.parse(last) as RunReport } : {}),
      ...(lastSuccessAt ? { lastSuccessAt: Number(lastSuccessAt) } : {}),
      ...(convergedAt ? { convergedAt: Number(convergedAt) } : {}),
    };
  }

  /**
   * Stores which runs a schedule starts, and since when; the time is kept from the first call.
   * @param gapMs longest time between two runs; null: there is no schedule
   */
  async function noteExpected(gapMs: number | null): Promise<void> {
    if (gapMs === null) {
      await redis.hdel(state, 'expectedSince', 'expectedGapMs');
      return;
    }
    await redis.hset(state, 'expectedGapMs', String(gapMs));
    await redis.hsetnx(state, 'expectedSince', String(await now()));
  }

  /** Adds to the number of writes ordered by all runs, by action. */
  async function noteWrites(writes: Record<string, number>): Promise<void> {
    for (const [action, count] of Object.entries(writes)) {
      await redis.hincrby(keys.key('reconcileWrites', target), action, count);
    }
  }

  /** Returns the position at which the next run continues; 0 at the beginning. */
  async function cursor(name: Cursor): Promise<number> {
    return Number((await redis.hget(state, name)) ?? 0);
  }

  const moveCursor = async (name: Cursor, position: number): Promise<void> => {
    await redis.hset(state, name, String(position));
  };

  /**
   * Returns the end of the last converged run, Unix milliseconds, if the target came back into the settings and no run has compared
   * it since: later changes of the source may be unwritten there. Infinity for every other target.
   */
  async function unwrittenSince(): Promise<number> {
    if (!isReturned(await mappedBy())) return Infinity;
    return (await read()).convergedAt ?? 0;
  }

  /** Returns for each group its time of change at the platform when its members were last found equal; null: never. */
  const groupsSeen = async (refs: Ref[]): Promise<(string | null)[]> =>
    refs.length === 0 ? [] : redis.hmget(keys.key('groupsSeen', target), ...refs);

  /** Stores the platform's times of change of groups whose members were found equal, unless a group was synced since its read. */
  async function noteGroupsSeen(groups: readonly SeenGroup[]): Promise<void> {
    for (const portion of inPortions(groups, SEEN_PORTION)) {
      const seen = portion.map(({ ref, changedAt, link }) => [ref, changedAt, link]);
      await scripts.run('note_groups_seen', keys.base, { target, seen });
    }
  }

  return {
    // Lock.
    take,
    keep,
    release,
    isRunning,
    // Reports, and what they are judged by.
    now,
    end,
    read,
    noteExpected,
    noteWrites,
    // Where the next run continues.
    cursor,
    moveCursor,
    mappedBy,
    noteMapped,
    noteAnew,
    unwrittenSince,
    groupsSeen,
    noteGroupsSeen,
  };
}
