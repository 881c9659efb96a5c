// Finds the resources that match a query, in bounded memory: one portion after the other. `candidates` takes records from an index
// or from a scan of all; `resourcesOf` brings them into the form that filter and sort order read; `matchesOf` evaluates the filter
// on each, and pauses now and then, so that other requests are served.
import { inPortions } from '../directory/redis/portions.ts';
import { isSound, type Kind, type PlacedRecord } from '../directory/records.ts';
import {
  comparisonsIn,
  equalityOf,
  evaluateFilter,
  evaluateInSteps,
  parseFilter,
  parseSort,
  type Filter,
  type ListQuery,
  type ResourceType,
  type Sort,
  type SortKey,
} from '../scim/index.ts';
import { inSlices } from '../support/pace.ts';
import type { ProviderDeps } from './context.ts';
import type { Texts } from './texts.ts';

/** One resource type in a query. */
export interface QueriedType {
  readonly kind: Kind;
  /** Resolves the names in filter and sortBy. */
  readonly names: ResourceType;
}

/** One resource type of a query, with its parsed filter and sort order. */
export interface TypeQuery extends QueriedType {
  readonly filter: Filter | undefined;
  readonly sort: Sort | undefined;
}

interface Match {
  readonly kind: Kind;
  readonly record: PlacedRecord;
  /** Undefined when the query is not sorted. */
  readonly key: SortKey;
}

/** A query, with the parts of its request that are needed to run it. */
export interface RequestQuery {
  readonly query: ListQuery;
  readonly baseUrl: string;
  readonly signal: AbortSignal | undefined;
}

/** Parses filter and sortBy for one resource type. @throws 400 invalidFilter, 400 invalidValue for sortBy */
export const typeQueryOf = (
  { kind, names }: QueriedType,
  query: ListQuery,
  { profile }: ProviderDeps,
): TypeQuery => ({
  kind,
  names,
  filter: query.filterText === undefined ? undefined : parseFilter(names, query.filterText, profile),
  sort: query.sortBy === undefined ? undefined : parseSort(names, query.sortBy, profile),
});

/** Characters of a resource, times comparisons of the filter, up to which the filter is evaluated at once, which is faster. */
const AT_ONCE = 200_000;
/** Attributes that are not part of the stored text and have to be loaded. */
const ADDED = ['meta', 'groups', 'members'];

export type Matches = ReturnType<typeof createMatches>;

export function createMatches({ directory, pace }: ProviderDeps, { textsOf }: Texts) {
  /** Yields the matches of one resource type in order of creation, behind the place `after`. @throws when the client disconnects */
  async function* matchesOf(wanted: TypeQuery, asked: RequestQuery, after = 0): AsyncGenerator<Match[]> {
    const { kind, filter, sort } = wanted;
    const slice = pace();
    const comparisons = filter ? comparisonsIn(filter) : 0;
    const isMatch = (resource: unknown, size: number): boolean | Promise<boolean> => {
      if (!filter) return true;
      if (size * comparisons <= AT_ONCE) return evaluateFilter(filter, resource);
      return inSlices(evaluateInSteps(filter, resource), slice, asked.signal);
    };
    for await (const records of candidates(wanted, asked, after)) {
      const sound = records.filter((record) => isSound(record));
      const matches: Match[] = [];
      if (!filter && !sort) matches.push(...sound.map((record) => ({ kind, record, key: undefined })));
      else {
        for await (const [record, resource, size] of resourcesOf(asked, kind, sound)) {
          if (await isMatch(resource, size)) matches.push({ kind, record, key: sort?.keyOf(resource) });
          if (slice.isOver()) await slice.rest();
        }
      }
      yield matches;
      // Other requests are served even when the next portion is already loaded.
      await slice.rest();
    }
  }

  /** Yields the resources that may match, in order of creation behind the place `after`: from an index, or all of them. */
  async function* candidates(
    { kind, filter }: TypeQuery,
    { query, signal }: RequestQuery,
    after: number,
  ): AsyncGenerator<PlacedRecord[]> {
    const equality = filter && equalityOf(filter);
    const ids = equality && (await directory.lookup(kind, equality.attribute, equality.value));
    if (!ids) {
      yield* directory.scan(kind, after, signal);
      return;
    }
    // Places are needed to order several resources, and for a cursor. A single resource without a cursor has the place 0.
    const needsPlace = ids.length > 1 || query.cursor !== undefined;
    if (needsPlace) yield* directory.inOrder(kind, ids, after, signal);
    else yield (await directory.getMany(kind, ids)).map((record) => ({ ...record, place: 0 }));
  }

  /**
   * Yields the resources in the form that filter and sort order read, with their size in characters. Members, groups and meta are
   * loaded only if filter or sort order name them.
   */
  async function* resourcesOf(
    { query, baseUrl, signal }: RequestQuery,
    kind: Kind,
    records: PlacedRecord[],
  ): AsyncGenerator<[record: PlacedRecord, resource: unknown, size: number]> {
    const queryText = `${query.filterText ?? ''} ${query.sortBy ?? ''}`.toLowerCase();
    // A name inside a quoted value counts too. It only loads something that the filter does not read.
    const isNamed = (name: string): boolean => queryText.includes(name);
    if (!ADDED.some(isNamed)) {
      for (const record of records)
        yield [
          record,
          Object.assign(JSON.parse(record.text) as object, { id: record.id }),
          record.text.length,
        ];
      return;
    }
    // Groups are loaded one at a time, because one may have very many members.
    const most = kind === 'Group' && isNamed('members') ? 1 : records.length;
    for (const portion of inPortions(records, most)) {
      let at = 0;
      for await (const texts of textsOf(kind, portion, baseUrl, isNamed, { signal }))
        for (const text of texts) yield [portion[at++] as PlacedRecord, JSON.parse(text), text.length];
    }
  }

  return matchesOf;
}
