// Stores what outlives a reconcile run: the run under way, how the last one ended, and how far the slow reads have come.
import type { Redis } from 'ioredis';
import type { Coverage } from './coverage.ts';
import type { Keyspace } from '../keys.ts';
import type { Ref } from '../records.ts';
import type { Scripts } from '../redis/scripts.ts';

/**
 * `drifted`: differences were only reported. `held`: some wait for approval. `blocked`: some need a person. `unproven`: a
 * list was not read whole. `incomplete`: somebody or something desired is still not there. `failed`: it came to no end.
 */
export type Outcome = 'converged' | 'drifted' | 'held' | 'blocked' | 'unproven' | 'incomplete' | 'failed';

export interface CoverageOfKinds {
  users: Coverage;
  groups: Coverage;
}

/** How a run ended. Times are Unix milliseconds of this process's clock. */
export interface RunReport {
  /** Name of the run: `plan:<id>`, as the marks that it left carry it. */
  run: string;
  startedAt: number;
  endedAt: number;
  outcome: Outcome;
  /** Entries of the plan, by action. */
  counts: Record<string, number>;
  /** Resources compared. */
  users: number;
  groups: number;
  /** How the resources of ours stand at the end; absent in a run that failed. */
  coverage?: CoverageOfKinds;
  /** Differences that no push explains, by action and cause. */
  drift?: DriftCount[];
  /** Why the run proves nothing, or what failed. */
  message?: string;
}

/** How many differences of one sort a run found. */
export interface DriftCount {
  action: string;
  cause: string;
  count: number;
}

export interface RunState {
  last?: RunReport;
  /** End of the last run that compared everything, whatever it found. */
  lastSuccessAt?: number;
}

/** How far the reads that cost one call each have come, so that every run goes on where the last one stopped. */
export type Cursor = 'values' | 'members';

/** In the place of a digest: derived data was repaired, so the next run maps everybody and reads everything. */
export const REPAIRED = 'repaired';

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore(
  deps: { redis: Redis; scripts: Scripts; keys: Keyspace },
  options: { target: string },
) {
  const { redis, scripts, keys } = deps;
  const { target } = options;
  const state = keys.key('reconcile', target);

  /** Takes the right to reconcile. @returns the fence, or undefined while another run has it */
  async function take(ttlMs: number): Promise<string | undefined> {
    const fence = String(await redis.incr(keys.key('runs')));
    const taken = await redis.set(keys.key('run', target), fence, 'PX', ttlMs, 'NX');
    return taken === null ? undefined : fence;
  }

  const keep = async (fence: string, ttlMs: number): Promise<boolean> =>
    (await scripts.run('renew_run', keys.base, { target, fence, ttlMs }))[0] === 'held';

  /** Gives the right back; nothing happens when it is lost already. */
  const release = async (fence: string): Promise<void> => {
    await scripts.run('renew_run', keys.base, { target, fence, ttlMs: 0 });
  };

  const isRunning = async (): Promise<boolean> => (await redis.exists(keys.key('run', target))) === 1;

  async function end(report: RunReport): Promise<void> {
    const fields: Record<string, string> = { last: JSON.stringify(report) };
    if (report.outcome !== 'unproven' && report.outcome !== 'failed')
      fields.lastSuccessAt = String(report.endedAt);
    await redis.hset(state, fields);
  }

  /** Adds to what all runs have ordered, by action. */
  async function noteWrites(writes: Record<string, number>): Promise<void> {
    for (const [action, count] of Object.entries(writes)) {
      await redis.hincrby(keys.key('reconcileWrites', target), action, count);
    }
  }

  async function read(): Promise<RunState> {
    const [last, lastSuccessAt] = await redis.hmget(state, 'last', 'lastSuccessAt');
    return {
      ...(last ? { last: JSON.parse(last) as RunReport } : {}),
      ...(lastSuccessAt ? { lastSuccessAt: Number(lastSuccessAt) } : {}),
    };
  }

  async function cursor(name: Cursor): Promise<number> {
    return Number((await redis.hget(state, name)) ?? 0);
  }

  const moveCursor = async (name: Cursor, place: number): Promise<void> => {
    await redis.hset(state, name, String(place));
  };

  /** Digest of the rules by which everybody was mapped last; undefined before the first full pass. */
  const mappedBy = async (): Promise<string | undefined> =>
    (await redis.get(keys.key('mapped', target))) ?? undefined;

  const noteMapped = async (digest: string): Promise<void> => {
    await redis.set(keys.key('mapped', target), digest);
  };

  /** When the platform last changed each group, as it said when the group's members were found equal. */
  const groupsSeen = async (refs: Ref[]): Promise<(string | null)[]> =>
    refs.length === 0 ? [] : redis.hmget(keys.key('groupsSeen', target), ...refs);

  const noteGroupsSeen = async (seen: Map<Ref, string>): Promise<void> => {
    if (seen.size > 0) await redis.hset(keys.key('groupsSeen', target), seen);
  };

  return {
    target,
    take,
    keep,
    release,
    isRunning,
    end,
    noteWrites,
    read,
    cursor,
    moveCursor,
    mappedBy,
    noteMapped,
    groupsSeen,
    noteGroupsSeen,
  };
}
