// Reads and dismisses the dead letters of a target: resources whose sync was refused for good, in the order of the refusals. Redis
// has them in the sorted set `blocked:<target>`, by time.
import type { Ref } from '../records.ts';
import { inPortions, pairsOf } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import type { RunAtTarget } from './run-at-target.ts';

/** Number of resources whose marks are read at once. */
const PORTION = 1000;

export function createDeadLetterList({ redis, keys }: StoreDeps, target: string, run: RunAtTarget) {
  /** Returns dead letters, the oldest first; without a page all of them. */
  async function blocked({ offset = 0, limit = Infinity } = {}): Promise<{ ref: Ref; since: number }[]> {
    const last = limit === Infinity ? -1 : offset + limit - 1;
    const found = await redis.zrange(keys.key('blocked', target), String(offset), String(last), 'WITHSCORES');
    return pairsOf(found).map(([ref, since]) => ({ ref: ref as Ref, since: Number(since) }));
  }

  /** Returns those of the refs that are dead letters. */
  async function blockedOf(refs: readonly Ref[]): Promise<{ ref: Ref; since: number }[]> {
    if (refs.length === 0) return [];
    const scores = await redis.zmscore(keys.key('blocked', target), ...refs);
    return refs.flatMap((ref, index) => (scores[index] ? [{ ref, since: Number(scores[index]) }] : []));
  }

  /** Removes a resource from the dead letters; its desired state stays. @returns false when it was none */
  async function dismiss(ref: Ref): Promise<boolean> {
    const [tag] = await run('dismiss', { ref });
    return tag === 'dismissed';
  }

  /** Returns the resources whose dead letters an operator dropped, that were not synced since, and that no sync is to come for. */
  async function dropped(): Promise<Set<Ref>> {
    const refs = (await redis.zrange(keys.key('exceptions', `${target}:Dropped`), '0', '-1')) as Ref[];
    const marked = new Set<Ref>();
    for (const portion of inPortions(refs, PORTION)) {
      const marks = await redis.hmget(keys.key('marks', target), ...portion);
      for (const [index, ref] of portion.entries()) if (marks[index]) marked.add(ref);
    }
    return new Set(refs.filter((ref) => !marked.has(ref)));
  }

  const countBlocked = (): Promise<number> => redis.zcard(keys.key('blocked', target));

  return { blocked, blockedOf, countBlocked, dismiss, dropped };
}
