// Finds the resources that a query asks for, in bounded memory: candidates by index or by a scan, then the whole filter.
import { isSound, type Kind, type PlacedRecord } from '../directory/records.ts';
import {
  equalityOf,
  evaluateFilter,
  parseFilter,
  parseSort,
  type Filter,
  type ListQuery,
  type ResourceType,
  type Sort,
  type SortKey,
} from '../scim/index.ts';
import type { ProviderDeps } from './context.ts';
import type { Texts } from './texts.ts';

/** One resource type in a query. */
export interface Scope {
  readonly kind: Kind;
  /** Knows the names that filter and sortBy may use. */
  readonly names: ResourceType;
}

/** A scope with what the query asks of it. */
export interface Wanted {
  readonly kind: Kind;
  readonly names: ResourceType;
  readonly filter: Filter | undefined;
  readonly sort: Sort | undefined;
}

export interface Match {
  readonly kind: Kind;
  readonly record: PlacedRecord;
  /** Undefined where nothing is sorted. */
  readonly key: SortKey;
}

/** The query as one request asks it. */
export interface Asked {
  readonly query: ListQuery;
  readonly baseUrl: string;
  readonly signal: AbortSignal | undefined;
}

/** @throws 400 invalidFilter, 400 invalidValue for sortBy */
export const wantedOf = ({ kind, names }: Scope, query: ListQuery, { profile }: ProviderDeps): Wanted => ({
  kind,
  names,
  filter: query.filterText === undefined ? undefined : parseFilter(names, query.filterText, profile),
  sort: query.sortBy === undefined ? undefined : parseSort(names, query.sortBy, profile),
});

/** Attributes that are not in the stored text; `id` is added at no cost. */
const ADDED = ['meta', 'groups', 'members'];

export type Matches = ReturnType<typeof createMatches>;

export function createMatches({ directory, pace }: ProviderDeps, textsOf: Texts) {
  async function* candidates(
    { kind, filter }: Wanted,
    { query, signal }: Asked,
    after: number,
  ): AsyncGenerator<PlacedRecord[]> {
    const equality = filter && equalityOf(filter);
    const ids = equality && (await directory.lookup(kind, equality.attribute, equality.value));
    if (!ids) yield* directory.scan(kind, after, signal);
    // The place of a resource matters to nobody when it is the only one.
    else if (ids.length > 1 || query.cursor !== undefined) yield* directory.inOrder(kind, ids, after, signal);
    else yield (await directory.getMany(kind, ids)).map((record) => ({ ...record, place: 0 }));
  }

  /** The resources as far as filter and sorting look into them: what they do not name need not be loaded or made. */
  async function* seenBy(
    { query, baseUrl }: Asked,
    kind: Kind,
    records: PlacedRecord[],
  ): AsyncGenerator<[record: PlacedRecord, resource: unknown]> {
    const asked = `${query.filterText ?? ''} ${query.sortBy ?? ''}`.toLowerCase();
    const names = (name: string): boolean => asked.includes(name);
    if (!ADDED.some(names)) {
      for (const record of records)
        yield [record, Object.assign(JSON.parse(record.text) as object, { id: record.id })];
      return;
    }
    // A group may have very many members: no two groups are loaded at once.
    const most = kind === 'Group' && names('members') ? 1 : records.length;
    for (let at = 0; at < records.length; at += most) {
      const some = records.slice(at, at + most);
      const texts = await textsOf(kind, some, baseUrl, names);
      for (const [index, record] of some.entries()) yield [record, JSON.parse(texts[index] ?? '{}')];
    }
  }

  /** Matches of one resource type in order of creation, behind the place `after`. @throws when the client has left */
  return async function* matchesOf(wanted: Wanted, asked: Asked, after = 0): AsyncGenerator<Match[]> {
    const { kind, filter, sort } = wanted;
    const slice = pace();
    for await (const records of candidates(wanted, asked, after)) {
      const sound = records.filter((record) => isSound(record));
      const matches: Match[] = [];
      if (!filter && !sort) matches.push(...sound.map((record) => ({ kind, record, key: undefined })));
      else {
        for await (const [record, resource] of seenBy(asked, kind, sound)) {
          if (!filter || evaluateFilter(filter, resource))
            matches.push({ kind, record, key: sort?.keyOf(resource) });
          if (slice.isOver()) await slice.rest();
        }
      }
      yield matches;
      // The next portion may be here already: others come first.
      await slice.rest();
    }
  };
}
