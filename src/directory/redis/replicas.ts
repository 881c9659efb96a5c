// Waits for replicas before an answer: a primary answers before its replicas know, and a failover would lose the change.
import type { Redis } from 'ioredis';
import type { Clock } from '../../support/sources.ts';

/** Resolves when the replicas have everything that this connection wrote to keys of `base`. @throws Error "not confirmed" */
export type Confirm = (base: string) => Promise<void>;

interface Standing {
  lookedAt: number;
  /** How many replicas followed, and when so many were last seen. */
  replicas: number;
  seenAt: number;
  looking: Promise<void> | undefined;
  waiting: Promise<boolean> | undefined;
}

const LOOK_MS = 5000;
/** How long a replica follows, normally: milliseconds. The connection stands still meanwhile. */
const WAIT_MS = 1000;
/** A replica that was silent for longer does not count as one: seconds, as Redis tells it. */
const LONGEST_LAG = 5;
/**
 * All of them have to know, not just one: any may become the next primary. And a primary that loses one may have been
 * replaced by it already, so what the lost one lacks is not acknowledged; sentinels and clusters tell within seconds, and
 * after this time the rest is enough.
 */
const GRIEF_MS = 10_000;

export function createConfirmation(deps: { redis: Redis; clock: Clock }): Confirm {
  const { redis, clock } = deps;
  const standings = new Map<string, Standing>();
  // Another connection may lead to another server, which answers for what it was never sent.
  let era = 0;
  for (const event of ['close', 'ready', '+node', '-node']) {
    redis.on(event, () => {
      era++;
      standings.clear();
    });
  }

  /** Both commands go over the connection that the keys of `base` are written on, also in a cluster. */
  async function ask(base: string, command: string, ...args: (string | number)[]): Promise<unknown> {
    const replies = await redis
      .pipeline()
      .exists(base)
      .call(command, ...args)
      .exec();
    for (const [error] of replies ?? []) if (error) throw error;
    return replies?.[1]?.[1];
  }

  async function look(base: string, standing: Standing): Promise<void> {
    standing.lookedAt = clock.now();
    const followers = countFollowers(String(await ask(base, 'INFO', 'replication')));
    if (followers < standing.replicas && clock.now() - standing.seenAt <= GRIEF_MS) return;
    standing.replicas = followers;
    standing.seenAt = clock.now();
  }

  const wait = (base: string, standing: Standing): Promise<boolean> =>
    // All answers of this turn of the event loop share one wait.
    (standing.waiting ??= Promise.resolve().then(async () => {
      standing.waiting = undefined;
      return Number(await ask(base, 'WAIT', standing.replicas, WAIT_MS)) >= standing.replicas;
    }));

  return async (base) => {
    const began = era;
    let standing = standings.get(base);
    if (!standing) {
      standing = {
        lookedAt: -Infinity,
        replicas: 0,
        seenAt: -Infinity,
        looking: undefined,
        waiting: undefined,
      };
      standings.set(base, standing);
      standing.looking = look(base, standing).catch((error: Error) => {
        standings.delete(base);
        throw error;
      });
    } else if (clock.now() - standing.lookedAt >= LOOK_MS) {
      void look(base, standing).catch(() => undefined);
    }
    await standing.looking;
    if (standing.replicas === 0 && era === began) return;
    if (!(await wait(base, standing)) || era !== began) {
      throw new Error('The write was not confirmed by a replica of Redis.');
    }
    standing.seenAt = clock.now();
  };
}

/** `slave0:ip=...,port=...,state=online,offset=...,lag=0` */
function countFollowers(info: string): number {
  const lags = [...info.matchAll(/^slave\d+:.*\bstate=online\b.*\blag=(\d+)/gm)];
  return lags.filter(([, lag]) => Number(lag) <= LONGEST_LAG).length;
}
