// Reads held and rejected changes of a target in pages, because one reply with all of them would stop Redis for others. Redis has a
// sorted set for each kind of change. In `guardHeld` the score of a change is its place, a number that is larger than those of all
// changes held before; in `guardRejected` it is the number of the decision that rejected the change. So a list of changes that an
// operator decides about is a range of scores (`rangesOf`): of held changes the places after `serial` up to `upTo`, of rejected
// changes the numbers of the decisions.
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../../guard/judge.ts';
import { total } from '../../support/counted.ts';
import type { Ref } from '../records.ts';
import { pairsOf, readInPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { redisTime } from '../redis/redis-time.ts';
import { readApprovalTerm } from './approval-term.ts';

/** One destructive write. `subject`: the removed member (a user's id), or the cleared attribute. */
export interface Destruction {
  kind: DestructiveKind;
  ref: Ref;
  subject?: string;
}

/** A list of changes that an operator can decide about. */
export interface ChangeList {
  source: 'guardHeld' | 'guardRejected';
  /** Number of the approval; the changes that are held under it have larger places. */
  serial: number;
  /** Last place of the list; changes that are held later are not part of it. */
  upTo: number;
  /** Digest of the changes, as in the id; set if this list has only the changes that a decision chose from a longer list. */
  part?: string;
  /** Numbers of the decisions that rejected the changes of the list; held changes have none. */
  numbers?: readonly number[];
}

/** Id, times and counts of the changes that are held under the newest approval. */
export interface HeldChanges extends ChangeList {
  /** Id of exactly this list. */
  id: string;
  /** Times of the approval, Unix milliseconds of Redis. */
  openedAt: number;
  expiresAt: number;
  /** Time until the approval expires by the clock of Redis, milliseconds; 0 or less: no operator can decide them. */
  leftMs: number;
  kinds: Record<DestructiveKind, number>;
  total: number;
}

/** Largest number of changes that one command reads. */
const PAGE = 1000;

/** Returns the id of a list within its connection: `<target>.<serial>-<last place>`, for a part with `~<digest>`. */
export const idOfList = (
  target: string,
  { serial, upTo, part }: Pick<ChangeList, 'serial' | 'upTo' | 'part'>,
): string => `${target}.${serial}-${upTo}${part === undefined ? '' : `~${part}`}`;

/** First and last score; scores are whole numbers. */
type Range = [from: number, to: number];

/** Returns the ranges of scores of a list: one for held changes, which begins after the serial; else one for each rejection. */
export const rangesOf = ({ source, serial, upTo, numbers = [] }: ChangeList): Range[] =>
  source === 'guardHeld' ? [[serial + 1, upTo]] : numbers.map((number) => [number, number]);

export function createHeldChanges({ redis, keys }: StoreDeps, target: string) {
  const listKey = (family: string, kind: DestructiveKind): string => keys.key(family, `${target}:${kind}`);

  /** Returns the changes that are held under the newest approval, also an expired one; undefined: there are none. */
  async function open(): Promise<HeldChanges | undefined> {
    const [{ serial, openedAt, expiresAt, leftMs }, ...last] = await Promise.all([
      readApprovalTerm({ redis, keys }, target),
      ...DESTRUCTIVE_KINDS.map((kind) => redis.zrange(listKey('guardHeld', kind), '-1', '-1', 'WITHSCORES')),
    ]);
    const upTo = Math.max(...last.map(([, place]) => Number(place ?? 0)));
    // Changes of an earlier approval, which expired, are left out: the guard judges them again at their next sync.
    if (upTo <= serial) return undefined;
    const list = { source: 'guardHeld', serial, upTo } as const;
    return { ...list, id: idOfList(target, list), openedAt, expiresAt, leftMs, ...(await countOf(list)) };
  }

  /** Returns the number of changes in a list, of each kind and in total. */
  async function countOf(list: ChangeList): Promise<Pick<HeldChanges, 'kinds' | 'total'>> {
    const found = await Promise.all(
      DESTRUCTIVE_KINDS.map(async (kind) => {
        const counts = rangesOf(list).map((range) => redis.zcount(listKey(list.source, kind), ...range));
        return total(await Promise.all(counts));
      }),
    );
    return { kinds: toKindCounts(found), total: total(found) };
  }

  /**
   * Yields the changes of a list in pages, kind after kind: held changes in the order in which they were held, rejected ones by
   * rejection, and those of one rejection by their text.
   */
  async function* pages(
    list: ChangeList,
    kinds: readonly DestructiveKind[] = DESTRUCTIVE_KINDS,
  ): AsyncGenerator<Destruction[]> {
    for (const kind of kinds) for (const range of rangesOf(list)) yield* pagesOf(list.source, kind, range);
  }

  async function* pagesOf(
    source: ChangeList['source'],
    kind: DestructiveKind,
    [from, to]: Range,
  ): AsyncGenerator<Destruction[]> {
    let start: number | string = from;
    let offset = 0;
    for (;;) {
      const list = listKey(source, kind);
      const flat: string[] = await redis.zrangebyscore(list, start, to, 'WITHSCORES', 'LIMIT', offset, PAGE);
      const found = pairsOf(flat);
      const [_text, lastPlace] = found.at(-1) ?? [];
      if (lastPlace !== undefined) yield found.map(([text]) => parseItem(kind, text));
      if (found.length < PAGE) return;
      // Held changes have unique scores. All changes of one rejection have the same score, so they are read by offset.
      if (source === 'guardHeld') start = `(${lastPlace}`;
      else offset += PAGE;
    }
  }

  /**
   * Returns those of the changes that are still in the list. A change that was taken back and came again has another place
   * and is left out: the caller decided about the earlier one.
   */
  async function stillIn(list: ChangeList, items: readonly Destruction[]): Promise<Destruction[]> {
    const ranges = rangesOf(list);
    const places = await readChangePlaces({ redis, keys }, target, list.source, items);
    return items.filter((_, index) => {
      const place = places[index] ?? null;
      return place !== null && ranges.some(([from, to]) => Number(place) >= from && Number(place) <= to);
    });
  }

  /** Returns the resources with held changes, including those of an expired approval. */
  async function heldRefs(): Promise<Ref[]> {
    const refs = new Set<Ref>();
    for await (const page of pages({ source: 'guardHeld', serial: 0, upTo: Number.MAX_SAFE_INTEGER }))
      for (const { ref } of page) refs.add(ref);
    return [...refs];
  }

  /** Counts all held changes. `expired`: those held under an approval that has expired, which are not judged anew yet. */
  async function countHeld(): Promise<Pick<HeldChanges, 'kinds' | 'total'> & { expired: number }> {
    const { serial, leftMs } = await readApprovalTerm({ redis, keys }, target);
    // The changes of the newest approval have larger places than its serial. Without an open approval, all have expired.
    const last = leftMs > 0 ? serial : '+inf';
    const ofKinds = await Promise.all(
      DESTRUCTIVE_KINDS.map((kind) =>
        Promise.all([
          redis.zcard(listKey('guardHeld', kind)),
          redis.zcount(listKey('guardHeld', kind), '-inf', last),
        ]),
      ),
    );
    const counts = ofKinds.map(([count]) => count);
    return {
      kinds: toKindCounts(counts),
      total: total(counts),
      expired: total(ofKinds.map(([, expired]) => expired)),
    };
  }

  /**
   * Returns how many changes of an approval are neither written nor taken back, and `leftMs` until it ends (0 or less: ended).
   * @param approvedUntil as of its `Decision`
   */
  async function countUnwritten(approvedUntil: number): Promise<{ count: number; leftMs: number }> {
    const ofKinds = DESTRUCTIVE_KINDS.map((kind) =>
      redis.zcount(listKey('guardApproved', kind), approvedUntil, approvedUntil),
    );
    const [counts, now] = await Promise.all([Promise.all(ofKinds), redisTime(redis)]);
    return { count: total(counts), leftMs: approvedUntil - now };
  }

  return { countOf, countUnwritten, countHeld, open, pages, heldRefs, stillIn };
}

/** Returns the score of each change in the list of its kind; null: it is not there. @param family of the keys of these lists */
export const readChangePlaces = (
  { redis, keys }: Pick<StoreDeps, 'redis' | 'keys'>,
  target: string,
  family: string,
  items: readonly Destruction[],
): Promise<(string | null)[]> =>
  readInPortions(items, PAGE, async (portion) => {
    const places = new Map<Destruction, string | null>();
    const readKind = async (kind: DestructiveKind): Promise<void> => {
      const ofKind = portion.filter((item) => item.kind === kind);
      if (ofKind.length === 0) return;
      const scores = await redis.zmscore(keys.key(family, `${target}:${kind}`), ...ofKind.map(itemText));
      for (const [index, item] of ofKind.entries()) places.set(item, scores[index] ?? null);
    };
    await Promise.all(DESTRUCTIVE_KINDS.map(readKind));
    return portion.map((item) => places.get(item) ?? null);
  });

/** @param counts by position in DESTRUCTIVE_KINDS */
export const toKindCounts = (counts: readonly number[]): HeldChanges['kinds'] =>
  Object.fromEntries(
    DESTRUCTIVE_KINDS.map((kind, index) => [kind, counts[index] ?? 0]),
  ) as HeldChanges['kinds'];

/** Parses an item of a list of changes of one kind: `<ref>` or `<ref> <subject>`. The inverse of `itemText`. */
export function parseItem(kind: DestructiveKind, text: string): Destruction {
  const space = text.indexOf(' ');
  if (space < 0) return { kind, ref: text as Ref };
  return { kind, ref: text.slice(0, space) as Ref, subject: text.slice(space + 1) };
}

/** Returns a change as an item of a list of changes of its kind: `<ref>` or `<ref> <subject>`. */
const itemText = ({ ref, subject }: Destruction): string =>
  subject === undefined ? ref : `${ref} ${subject}`;

/** Returns a change as an item of a list of changes of all kinds: `<kind> <ref>` or `<kind> <ref> <subject>`. */
export const changeText = (item: Destruction): string => `${item.kind} ${itemText(item)}`;

/** Parses an item of a list of changes of all kinds. The inverse of `changeText`. */
export function parseChange(text: string): Destruction {
  const space = text.indexOf(' ');
  return parseItem(text.slice(0, space) as DestructiveKind, text.slice(space + 1));
}
