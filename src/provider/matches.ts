// What a query finds, chunk by chunk, in bounded memory: candidates by index or by a scan, then the whole filter.
import type { Kind, PlacedRecord } from '../directory/records.ts';
import {
  equalityOf,
  evaluateFilter,
  parseFilter,
  parseSort,
  sureTest,
  textTest,
  type Filter,
  type ListQuery,
  type ResourceType,
  type Sort,
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
  /** As far as sorting looks into it. */
  readonly resource: unknown;
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

export function createMatches({ directory }: ProviderDeps, textsOf: Texts) {
  async function* candidates({ kind, filter }: Wanted, isPaged: boolean, after: number) {
    const equality = filter && equalityOf(filter);
    const ids = equality && (await directory.lookup(kind, equality.attribute, equality.value));
    if (!ids) yield* directory.scan(kind, after);
    // Where one lies in the order matters to nobody when it is the only one.
    else if (ids.length > 1 || isPaged) yield await directory.inOrder(kind, ids, after);
    else yield (await directory.getMany(kind, ids)).map((record) => ({ ...record, place: 0 }));
  }

  /** The resources as far as filter and sorting look into them: what they do not name need not be loaded or made. */
  async function seenBy(
    query: ListQuery,
    kind: Kind,
    records: PlacedRecord[],
    baseUrl: string,
  ): Promise<unknown[]> {
    const asked = `${query.filterText ?? ''} ${query.sortBy ?? ''}`.toLowerCase();
    const names = (name: string): boolean => asked.includes(name);
    if (!ADDED.some(names)) {
      return records.map(({ id, text }) => Object.assign(JSON.parse(text) as object, { id }));
    }
    const texts = await textsOf(kind, records, baseUrl, names);
    return texts.map((each) => JSON.parse(each) as unknown);
  }

  /** Matches of one resource type in order of creation, behind the place `after`. */
  return async function* matchesOf(
    wanted: Wanted,
    query: ListQuery,
    baseUrl: string,
    after = 0,
  ): AsyncGenerator<Match[]> {
    const { kind, names, filter, sort } = wanted;
    const mayMatch = filter && textTest(filter);
    const isSure = filter && !sort ? sureTest(names, filter) : undefined;
    for await (const chunk of candidates(wanted, query.cursor !== undefined, after)) {
      const records = mayMatch ? chunk.filter(({ text }) => mayMatch(text)) : chunk;
      const isOpen = ({ text }: PlacedRecord): boolean => !isSure?.(text);
      const open = filter || sort ? records.filter(isOpen) : [];
      const resources = await seenBy(query, kind, open, baseUrl);
      const matches: Match[] = [];
      let next = 0;
      for (const record of records) {
        const resource = open[next] === record ? resources[next++] : undefined;
        if (!filter || resource === undefined || evaluateFilter(filter, resource))
          matches.push({ kind, record, resource });
      }
      yield matches;
    }
  };
}
