// Waits until replicas have confirmed a write, because a failover loses writes that only the primary has.
import type { Redis } from 'ioredis';
import type { Clock } from '../../support/sources.ts';

/**
 * Resolves when all replicas have the writes of this client to keys of `base`.
 * @throws Error when a replica does not confirm in time, or the connection was opened anew meanwhile
 */
export type Confirm = (base: string) => Promise<void>;

interface ReplicaState {
  /** Start of the last count. */
  countedAt: number;
  /** Number of replicas that have to confirm. */
  replicas: number;
  /** Time at which `replicas` was last counted or confirmed. */
  seenAt: number;
  /**
   * The first count; undefined only until it is started. Every confirmation awaits it, because `replicas` is unknown before.
   * Later counts run in the background.
   */
  firstCount: Promise<void> | undefined;
  /** The WAIT that is about to be sent. */
  waiting: Promise<boolean> | undefined;
}

/** Interval at which replicas are counted. */
const CHECK_MS = 5000;
/** Longest wait for replicas. Other commands of the connection wait too. */
const WAIT_MS = 1000;
/** Largest lag in seconds; a replica with a longer one is not counted. */
const LONGEST_LAG = 5;
/**
 * Time for which a lost replica still counts, so that writes fail meanwhile. All replicas must confirm, because any of them may
 * become primary. A lost replica may already be the new primary; sentinels and clusters announce that within seconds.
 */
const REPLICA_LOSS_GRACE_MS = 10_000;

export function createConfirmation(deps: { redis: Redis; clock: Clock }): Confirm {
  const { redis, clock } = deps;
  const states = new Map<string, ReplicaState>();
  // After a reconnect WAIT would answer for another server, so a confirmation fails if `era` has changed.
  let era = 0;
  for (const event of ['close', 'ready', '+node', '-node']) {
    redis.on(event, () => {
      era++;
      states.clear();
    });
  }

  /** Sends a command to the node that has the keys of `base`: EXISTS routes the pipeline in a cluster. */
  async function ask(base: string, command: string, ...args: (string | number)[]): Promise<unknown> {
    const replies = await redis
      .pipeline()
      .exists(base)
      .call(command, ...args)
      .exec();
    for (const [error] of replies ?? []) if (error) throw error;
    const [_ofExists, ofCommand] = replies ?? [];
    const [_error, reply] = ofCommand ?? [];
    return reply;
  }

  /** Counts the replicas that have to confirm; a smaller number counts only after REPLICA_LOSS_GRACE_MS. */
  async function countReplicas(base: string, state: ReplicaState): Promise<void> {
    state.countedAt = clock.now();
    const followers = countFollowers(String(await ask(base, 'INFO', 'replication')));
    if (followers < state.replicas && clock.now() - state.seenAt <= REPLICA_LOSS_GRACE_MS) return;
    state.replicas = followers;
    state.seenAt = clock.now();
  }

  /** Waits for the replicas. @returns whether all of them have confirmed in time */
  const wait = (base: string, state: ReplicaState): Promise<boolean> =>
    // All calls of one turn of the event loop share one WAIT.
    (state.waiting ??= Promise.resolve().then(async () => {
      state.waiting = undefined;
      return Number(await ask(base, 'WAIT', state.replicas, WAIT_MS)) >= state.replicas;
    }));

  return async (base) => {
    const began = era;
    let state = states.get(base);
    if (!state) {
      state = {
        countedAt: -Infinity,
        replicas: 0,
        seenAt: -Infinity,
        firstCount: undefined,
        waiting: undefined,
      };
      states.set(base, state);
      state.firstCount = countReplicas(base, state).catch((error: Error) => {
        if (states.get(base) === state) states.delete(base);
        throw error;
      });
    } else if (clock.now() - state.countedAt >= CHECK_MS) {
      void countReplicas(base, state).catch(() => undefined);
    }
    await state.firstCount;
    const isConfirmed = state.replicas === 0 || (await wait(base, state));
    if (!isConfirmed || era !== began) {
      throw new Error('The write was not confirmed by a replica of Redis.');
    }
    if (state.replicas > 0) state.seenAt = clock.now();
  };
}

/** Counts replicas in lines of INFO: `slave0:ip=...,port=...,state=online,offset=...,lag=0`. */
function countFollowers(info: string): number {
  const lags = [...info.matchAll(/^slave\d+:.*\bstate=online\b.*\blag=(\d+)/gm)];
  return lags.filter(([, lag]) => Number(lag) <= LONGEST_LAG).length;
}
