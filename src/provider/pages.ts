// One page of what a query finds: by position, sorted, or by cursor. Resource types follow each other.
import type { Kind, PlacedRecord, StoredRecord } from '../directory/records.ts';
import {
  compareKeys,
  invalidCursor,
  parseCursor,
  toCursor,
  type ListPosition,
  type ListQuery,
  type SortKey,
} from '../scim/index.ts';
import type { ProviderDeps } from './context.ts';
import type { Matches, Wanted } from './matches.ts';

export interface Found {
  readonly kind: Kind;
  readonly record: StoredRecord;
}

export interface FoundPage {
  readonly found: Found[];
  readonly position: ListPosition;
}

/** In the place of a resource type: the cursor counts positions of a sorted list. */
const SORTED = 'sorted';

/** How many sort keys are kept beyond those of the pages up to the asked one. */
const SPARE = 1000;

export function createPages({ directory }: ProviderDeps, matchesOf: Matches) {
  /** Without a filter the order in the directory is the answer. */
  async function everything(wanted: readonly Wanted[], query: ListQuery): Promise<FoundPage> {
    const { startIndex, count } = query;
    const found: Found[] = [];
    let skip = startIndex - 1;
    let totalResults = 0;
    for (const { kind } of wanted) {
      const { total, records } = await directory.page(kind, skip + 1, count - found.length);
      for (const record of records) found.push({ kind, record });
      skip = Math.max(0, skip - total);
      totalResults += total;
    }
    return { found, position: { totalResults, startIndex } };
  }

  async function filtered(wanted: readonly Wanted[], query: ListQuery, baseUrl: string): Promise<FoundPage> {
    const { startIndex, count } = query;
    const found: Found[] = [];
    let totalResults = 0;
    for (const each of wanted) {
      for await (const matches of matchesOf(each, query, baseUrl)) {
        for (const { kind, record } of matches)
          if (++totalResults >= startIndex && found.length < count) found.push({ kind, record });
      }
    }
    return { found, position: { totalResults, startIndex } };
  }

  /** RFC 7644 §3.4.2.3. Keeps key and id of no more matches than may still be on the page. */
  async function sorted(wanted: readonly Wanted[], query: ListQuery, baseUrl: string): Promise<FoundPage> {
    const { startIndex, count } = query;
    const sign = query.sortOrder === 'descending' ? -1 : 1;
    const needed = startIndex - 1 + count;
    const first: { key: SortKey; kind: Kind; id: string }[] = [];
    // Sorting is stable: equal keys stay in order of creation.
    const trim = (): void => {
      first.sort((a, b) => sign * compareKeys(a.key, b.key));
      if (first.length > needed) first.length = needed;
    };
    let totalResults = 0;
    for (const each of wanted) {
      for await (const matches of matchesOf(each, query, baseUrl)) {
        totalResults += matches.length;
        for (const { kind, record, resource } of matches)
          first.push({ key: each.sort?.keyOf(resource), kind, id: record.id });
        if (first.length >= 2 * needed + SPARE) trim();
      }
    }
    trim();
    const page = first.slice(startIndex - 1);
    const records = new Map<string, StoredRecord>();
    for (const { kind } of wanted) {
      const ids = page.filter((each) => each.kind === kind).map(({ id }) => id);
      for (const record of await directory.getMany(kind, ids)) records.set(record.id, record);
    }
    const found = page.flatMap(({ kind, id }) => {
      const record = records.get(id);
      return record ? [{ kind, record }] : [];
    });
    return { found, position: { totalResults, startIndex } };
  }

  /**
   * RFC 9865. The place of a resource in the order of creation never changes, so a crawl meets each resource that
   * stays exactly once, whatever comes and goes. With a filter, totalResults is what the first page counted.
   * @throws 400 invalidCursor
   */
  async function byCursor(wanted: readonly Wanted[], query: ListQuery, baseUrl: string): Promise<FoundPage> {
    if (query.sortBy !== undefined) return sortedByCursor(wanted, query, baseUrl);
    const identity = [...wanted.map(({ kind }) => kind), query.filterText];
    const from = query.cursor ? parseCursor(query.cursor, identity) : undefined;
    const start = from ? wanted.findIndex(({ kind }) => kind === from.type) : 0;
    if (start < 0) throw invalidCursor('The cursor is not valid: start again with an empty one.');
    const counted =
      query.filterText === undefined
        ? (await Promise.all(wanted.map(({ kind }) => directory.count(kind)))).reduce((a, b) => a + b, 0)
        : from?.totalResults;
    const found: { kind: Kind; record: PlacedRecord }[] = [];
    let seen = 0;
    crawl: for (const [index, each] of wanted.slice(start).entries()) {
      const after = index === 0 ? from?.after : undefined;
      for await (const matches of matchesOf(each, query, baseUrl, after)) {
        for (const { kind, record } of matches) if (seen++ < query.count) found.push({ kind, record });
        if (seen > query.count && counted !== undefined) break crawl;
      }
    }
    const totalResults = counted ?? seen;
    const last = found.at(-1);
    if (!last || seen <= query.count) return { found, position: { totalResults } };
    const place = { type: last.kind, after: last.record.place, totalResults };
    return { found, position: { totalResults, nextCursor: toCursor(place, identity) } };
  }

  /** Its cursor is a position: what changes its place in the order during a crawl may be met twice or not at all. */
  async function sortedByCursor(
    wanted: readonly Wanted[],
    query: ListQuery,
    baseUrl: string,
  ): Promise<FoundPage> {
    const { cursor, filterText, sortBy, sortOrder } = query;
    const identity = [...wanted.map(({ kind }) => kind), filterText, sortBy, sortOrder];
    const before = cursor ? parseCursor(cursor, identity).after : 0;
    const { found, position } = await sorted(wanted, { ...query, startIndex: before + 1 }, baseUrl);
    const { totalResults } = position;
    const after = before + found.length;
    if (found.length === 0 || after >= totalResults) return { found, position: { totalResults } };
    const nextCursor = toCursor({ type: SORTED, after, totalResults }, identity);
    return { found, position: { totalResults, nextCursor } };
  }

  return { everything, filtered, sorted, byCursor };
}
