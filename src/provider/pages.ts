// Builds one page of a query. Each returned function builds it in another way: `everything` (no filter) and `filtered` by
// position in the order of creation, `sorted` by position in the order of the sort keys, `byCursor` behind the place where the
// page before ended. The place of a resource says where it is in the order of creation, and never changes. A query of several
// resource types lists one type after the other.
import type { Kind, PlacedRecord, StoredRecord } from '../directory/records.ts';
import {
  compareKeys,
  invalidCursor,
  parseCursor,
  toCursor,
  type ListPosition,
  type SortKey,
} from '../scim/index.ts';
import type { ProviderDeps } from './context.ts';
import type { RequestQuery, Matches, TypeQuery } from './matches.ts';

export interface FoundRecord {
  readonly kind: Kind;
  readonly record: StoredRecord;
}

export interface FoundPage {
  readonly found: readonly FoundRecord[];
  /** Returns the counts and the cursor of the answer when it shows only the first `shown` of the found resources. */
  position: (shown: number) => ListPosition;
}

/** Stands for the type in the cursor of a sorted list: `after` is then a position in the list, not a place of creation. */
const SORTED = 'sorted';

/** Smallest portion of new sort keys (`fresh` in `sorted`) that are sorted and merged into the first keys (`first`) together. */
const SORT_PORTION = 1000;
/** A portion has one new key more for every FIRST_KEYS_PER_NEW_KEY first keys, because each merge copies all first keys. */
const FIRST_KEYS_PER_NEW_KEY = 8;

/** A match without its record, which is loaded only if it is on the page. */
interface Keyed {
  readonly key: SortKey;
  readonly kind: Kind;
  readonly id: string;
}

export function createPages({ directory, limits: { pageBytes } }: ProviderDeps, matchesOf: Matches) {
  /** Creates a page of at most `count` records and `pageBytes` bytes. A first record above `pageBytes` is taken too. */
  function createPage<R extends StoredRecord>(count: number) {
    const found: { kind: Kind; record: R }[] = [];
    let bytes = 0;
    let isFull = false;
    return {
      found,
      /** Adds a record unless the page is full. @returns whether it was added */
      take: (kind: Kind, record: R): boolean => {
        bytes += record.text.length;
        isFull ||= found.length >= count || (found.length > 0 && bytes > pageBytes);
        if (!isFull) found.push({ kind, record });
        return !isFull;
      },
    };
  }

  /** Builds a page of a query without filter directly from the order of creation. */
  async function everything(wanted: readonly TypeQuery[], { query }: RequestQuery): Promise<FoundPage> {
    const { startIndex, count } = query;
    const page = createPage(count);
    let skip = startIndex - 1;
    let left = count;
    let totalResults = 0;
    for (const { kind } of wanted) {
      const { total, records } = await directory.page(kind, skip + 1, left, pageBytes);
      const taken = records.filter((record) => page.take(kind, record)).length;
      // Number of resources of this type that belong on the page.
      const due = Math.max(0, Math.min(left, total - skip));
      // If the page is full before the last resource of this type, no resource of the next type may follow.
      left = taken < due ? 0 : left - taken;
      skip = Math.max(0, skip - total);
      totalResults += total;
    }
    return { found: page.found, position: () => ({ totalResults, startIndex }) };
  }

  /** Builds a page of a query with a filter, which is evaluated on all candidates, because totalResults counts all matches. */
  async function filtered(wanted: readonly TypeQuery[], asked: RequestQuery): Promise<FoundPage> {
    const { startIndex, count } = asked.query;
    const page = createPage(count);
    let totalResults = 0;
    for (const each of wanted) {
      for await (const matches of matchesOf(each, asked)) {
        for (const { kind, record } of matches) {
          totalResults++;
          if (totalResults >= startIndex) page.take(kind, record);
        }
      }
    }
    return { found: page.found, position: () => ({ totalResults, startIndex }) };
  }

  /** Builds a sorted page (RFC 7644 §3.4.2.3). Keeps only the keys and ids of matches that can still be on the page. */
  async function sorted(wanted: readonly TypeQuery[], asked: RequestQuery): Promise<FoundPage> {
    const { startIndex, count, sortOrder } = asked.query;
    const sign = sortOrder === 'descending' ? -1 : 1;
    const compare = (a: Keyed, b: Keyed): number => sign * compareKeys(a.key, b.key);
    const needed = startIndex - 1 + count;
    let first: Keyed[] = [];
    let fresh: Keyed[] = [];
    // Sorts small portions, so that other requests do not wait. The sort is stable: on equality the first keys stay first.
    const sortFresh = (): void => {
      first = [...first, ...fresh].sort(compare).slice(0, needed);
      fresh = [];
    };
    let totalResults = 0;
    for (const each of wanted) {
      for await (const matches of matchesOf(each, asked)) {
        totalResults += matches.length;
        for (const { kind, record, key } of matches) fresh.push({ key, kind, id: record.id });
        if (fresh.length >= SORT_PORTION + first.length / FIRST_KEYS_PER_NEW_KEY) sortFresh();
      }
    }
    sortFresh();
    const found = await load(first.slice(startIndex - 1));
    return { found, position: () => ({ totalResults, startIndex }) };
  }

  /** Loads the records of the keys from the first on, as many as fit on a page. Resources deleted meanwhile are left out. */
  async function load(wanted: readonly Keyed[]): Promise<FoundRecord[]> {
    const page = createPage(wanted.length);
    for (let at = 0; at < wanted.length;) {
      const { kind } = wanted[at] as Keyed;
      const next = wanted.findIndex((each, index) => index > at && each.kind !== kind);
      const ids = wanted.slice(at, next < 0 ? undefined : next).map(({ id }) => id);
      const { records, read } = await directory.portion(kind, ids, pageBytes);
      // The page is full, or the read ended early because the records read have `pageBytes`.
      if (!records.every((record) => page.take(kind, record)) || read < ids.length) break;
      at += read;
    }
    return page.found;
  }

  /**
   * Builds a page by cursor (RFC 9865). The place of a resource in the order of creation never changes, so a client that
   * follows the cursors gets each resource that exists all the time exactly once. With a filter, totalResults is the count
   * of the first page.
   * @throws 400 invalidCursor
   */
  async function byCursor(wanted: readonly TypeQuery[], asked: RequestQuery): Promise<FoundPage> {
    const { query } = asked;
    if (query.sortBy !== undefined) return sortedByCursor(wanted, asked);
    // A cursor is valid only for the same query.
    const identity = [...wanted.map(({ kind }) => kind), query.filterText];
    const from = query.cursor ? parseCursor(query.cursor, identity) : undefined;
    const start = from ? wanted.findIndex(({ kind }) => kind === from.type) : 0;
    if (start < 0) throw invalidCursor('The cursor is not valid: start again with an empty one.');
    // `counted` is undefined for the first page of a query with a filter: then `matchesBehind` counts all matches.
    const counted = query.filterText === undefined ? await countOf(wanted) : from?.totalResults;
    const { found, seen, hasMore } = await matchesBehind(wanted.slice(start), asked, {
      after: from?.after,
      countsAll: counted === undefined,
    });
    const totalResults = counted ?? seen;
    return {
      found,
      position: (shown) => {
        const last = found[shown - 1];
        if (!last || (shown === found.length && !hasMore)) return { totalResults };
        const place = { type: last.kind, after: last.record.place, totalResults };
        return { totalResults, nextCursor: toCursor(place, identity) };
      },
    };
  }

  /** Returns the number of all resources of these types. */
  async function countOf(wanted: readonly TypeQuery[]): Promise<number> {
    let total = 0;
    for (const { kind } of wanted) total += await directory.count(kind);
    return total;
  }

  /**
   * Returns the first matches behind a place, as many as fit on a page.
   * @param types the type of the cursor, which continues behind `after`, and the types after it, which are listed from their start
   * @param countsAll whether the matches behind the page are counted too
   * @returns `seen`: number of counted matches; `hasMore`: whether a match is behind the page
   */
  async function matchesBehind(
    types: readonly TypeQuery[],
    asked: RequestQuery,
    { after, countsAll }: { after: number | undefined; countsAll: boolean },
  ) {
    const { found, take } = createPage<PlacedRecord>(asked.query.count);
    let seen = 0;
    let hasMore = false;
    for (const [index, each] of types.entries()) {
      for await (const matches of matchesOf(each, asked, index === 0 ? after : undefined)) {
        seen += matches.length;
        for (const { kind, record } of matches) hasMore = !take(kind, record);
        if (hasMore && !countsAll) return { found, seen, hasMore };
      }
    }
    return { found, seen, hasMore };
  }

  /** Builds a sorted page by cursor. A resource whose sort key changes between two pages may be returned twice or not at all. */
  async function sortedByCursor(wanted: readonly TypeQuery[], asked: RequestQuery): Promise<FoundPage> {
    const { query } = asked;
    const { cursor, filterText, sortBy, sortOrder } = query;
    const identity = [...wanted.map(({ kind }) => kind), filterText, sortBy, sortOrder];
    const before = cursor ? parseCursor(cursor, identity).after : 0;
    const { found, position } = await sorted(wanted, {
      ...asked,
      query: { ...query, startIndex: before + 1 },
    });
    return {
      found,
      position: (shown) => {
        const { totalResults } = position(shown);
        const after = before + shown;
        if (shown === 0 || after >= totalResults) return { totalResults };
        return { totalResults, nextCursor: toCursor({ type: SORTED, after, totalResults }, identity) };
      },
    };
  }

  return { everything, filtered, sorted, byCursor };
}
