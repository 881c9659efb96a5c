// Lists the resources that wait for a sync at a target, in the order of their syncs: first those in the queue or with a worker,
// then those that wait in the outbox. Resources that wait for an operator are left out, because no worker can apply them before the
// operator acts: those behind a held change of another resource, and users behind a group whose sync was refused.
import { BEHIND_HELD_SCORE, type Ref } from '../records.ts';
import { toMarkState, type MarkState } from './resource-status.ts';
import type { StoreDeps } from '../redis/scripts.ts';

type WaitingResource = Pick<MarkState, 'since' | 'priority' | 'dueAt' | 'state'> & { ref: Ref };

export interface WaitingPage {
  offset: number;
  limit: number;
}

/** Returns one page; a resource whose change is applied while the page is read is left out. */
export async function readWaiting(
  { redis, keys }: StoreDeps,
  target: string,
  { offset, limit }: WaitingPage,
): Promise<WaitingResource[]> {
  const key = (family: string): string => keys.key(family, target);
  /**
   * Returns up to `count` refs from position `from` on, without those that wait for an operator: their scores are BEHIND_HELD_SCORE
   * or more. No score of `inflight` is that large: these scores are times in milliseconds.
   */
  const range = async (family: string, from: number, count: number): Promise<Ref[]> =>
    count <= 0
      ? []
      : ((await redis.zrangebyscore(
          key(family),
          '-inf',
          `(${BEHIND_HELD_SCORE}`,
          'LIMIT',
          from,
          count,
        )) as Ref[]);
  /**
   * Returns up to `count` refs of `dirty` from position `from` on. A ref that is in `inflight` too, because its resource was changed
   * during its sync, has no position here.
   */
  const dirtyAlone = async (from: number, count: number): Promise<Ref[]> => {
    const inBoth = new Set(await redis.zinter(2, key('inflight'), key('dirty')));
    const ranks = await Promise.all([...inBoth].map((ref) => redis.zrank(key('dirty'), ref)));
    let start = from;
    for (const rank of ranks.map((each) => each ?? Infinity).sort((a, b) => a - b))
      if (rank <= start) start++;
    const found = await range('dirty', start, count + inBoth.size);
    return found.filter((ref) => !inBoth.has(ref)).slice(0, count);
  };
  const underWay = await range('inflight', offset, limit);
  // Number of resources in `inflight` before the first one of `dirty` on this page. A full page reads none of `dirty`.
  const before = underWay.length > 0 ? offset + underWay.length : await redis.zcard(key('inflight'));
  const rest = limit - underWay.length;
  const later = rest > 0 ? await dirtyAlone(Math.max(0, offset - before), rest) : [];
  // A resource whose sync ends, or that is delivered, between the two reads may be found by both: the Set keeps the first.
  const refs = [...new Set([...underWay, ...later])];
  if (refs.length === 0) return [];
  const [marks, scores, deliveries] = await Promise.all([
    redis.hmget(key('marks'), ...refs),
    redis.zmscore(key('dirty'), ...refs),
    redis.hmget(key('deliveries'), ...refs),
  ]);
  return refs.flatMap((ref, index) => {
    const mark = marks[index];
    const score = scores[index] ?? null;
    const delivery = deliveries[index] ?? null;
    if (!mark) return [];
    // begin_sync.lua replaces the delivery id of a running sync by `-`.
    const isRunning = delivery?.startsWith('- ') ?? false;
    const { since, priority, dueAt, state } = toMarkState(mark, score, delivery, isRunning);
    return [{ ref, since, priority, dueAt, state }];
  });
}

/** Returns the number of resources that are not applied yet, without those that `readWaiting` leaves out. */
export async function countWaiting({ redis, keys }: StoreDeps, target: string): Promise<number> {
  const [marked, behindHeld] = await Promise.all([
    redis.hlen(keys.key('marks', target)),
    redis.zcount(keys.key('dirty', target), BEHIND_HELD_SCORE, '+inf'),
  ]);
  return marked - behindHeld;
}
