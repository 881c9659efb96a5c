// Sets and reads the marks of a target. A mark says that a resource may differ from the desired state there; it names the resource
// and never a change. The scripts that store changes set marks too (lua/marks.lua).
import { NO_REQUEST, PRIORITIES, PRIORITY_SPAN, type Priority, type Ref } from '../records.ts';
import { pairsOf, inPortions, scanned } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import type { DueWork } from './due-work.ts';
import type { RunAtTarget } from './run-at-target.ts';

/** Marks that one script makes; a thousand take about 15 ms. */
const MARKS_PORTION = 1000;

export function createMarks({ redis, keys }: StoreDeps, target: string, run: RunAtTarget) {
  /** Marks resources for a sync without a change. @param request correlation id of the order */
  async function mark(refs: Ref[], priority: Priority, request = NO_REQUEST): Promise<void> {
    const order = { priority: PRIORITIES.indexOf(priority), request };
    for (const portion of inPortions(refs, MARKS_PORTION))
      await run('mark_dirty', { refs: portion, ...order });
  }

  async function isMarked(ref: Ref): Promise<boolean> {
    return (await redis.hexists(keys.key('marks', target), ref)) === 1;
  }

  /** Returns the earliest `since` of the marks of these resources, Unix milliseconds; undefined: none of them has a mark. */
  async function pendingSince(refs: readonly Ref[]): Promise<number | undefined> {
    const marks = refs.length === 0 ? [] : await redis.hmget(keys.key('marks', target), ...refs);
    const times = marks.flatMap((mark) => (mark ? [Number(mark.split(' ')[1])] : []));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Returns all resources with a mark. */
  async function marked(): Promise<Ref[]> {
    const refs = new Set<Ref>();
    const marks = keys.key('marks', target);
    for await (const found of scanned((cursor) => redis.hscan(marks, cursor, 'COUNT', MARKS_PORTION)))
      for (const [ref] of pairsOf(found)) refs.add(ref as Ref);
    return [...refs];
  }

  /** Returns the resources whose deactivation waits for delivery. */
  const deactivations = async (): Promise<Ref[]> =>
    (await redis.zrangebyscore(keys.key('dirty', target), 0, `(${PRIORITY_SPAN}`)) as Ref[];

  /** Returns the number of marks of new resources that wait for delivery. */
  const countNew = (): Promise<number> => {
    const priority = PRIORITIES.indexOf('new');
    return redis.zcount(
      keys.key('dirty', target),
      priority * PRIORITY_SPAN,
      `(${(priority + 1) * PRIORITY_SPAN}`,
    );
  };

  /** Returns whether a resource has neither a dirty mark nor a dead letter. */
  async function isAtRest(ref: Ref): Promise<boolean> {
    const [blockedSince, hasMark] = await Promise.all([
      redis.zscore(keys.key('blocked', target), ref),
      isMarked(ref),
    ]);
    return blockedSince === null && !hasMark;
  }

  /** Returns whether the resource was not marked again since the sync began. */
  async function isCurrent(work: DueWork): Promise<boolean> {
    const mark = await redis.hget(keys.key('marks', target), work.ref);
    // A mark begins with its generation.
    return mark?.startsWith(`${work.generation} `) ?? false;
  }

  return { mark, marked, isMarked, pendingSince, countNew, deactivations, isAtRest, isCurrent };
}
