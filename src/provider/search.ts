// Lists (RFC 7644 §3.4.2): a page by position, a lookup by index, or a scan of everything in bounded memory.
import type { UserWithGroups } from '../directory/directory.ts';
import type { Kind, StoredRecord } from '../directory/records.ts';
import {
  equalityOf,
  evaluateFilter,
  listResponseText,
  notImplemented,
  parseFilter,
  parseProjection,
  wants,
  type Filter,
  type ListQuery,
} from '../scim/index.ts';
import { groupText, userText } from './answers.ts';
import type { Answer, ProviderDeps, RequestContext } from './context.ts';

/** Page sizes announced in ServiceProviderConfig. */
export const LIST_LIMITS = { defaultCount: 100, maxCount: 1000 };

export type Search = ReturnType<typeof createSearch>;

export function createSearch(deps: ProviderDeps) {
  const { directory, userType, groupType, profile } = deps;

  /** @throws 400 invalidFilter; 501 for sortBy, which ServiceProviderConfig does not announce */
  async function list(kind: Kind, query: ListQuery, context: RequestContext): Promise<Answer> {
    const type = kind === 'User' ? userType : groupType;
    if (query.sortBy !== undefined && profile.name === 'rfc')
      throw notImplemented('Sorting is not supported.');
    const { startIndex, count } = query;
    const projection = parseProjection(type, query);
    const filter = query.filterText === undefined ? undefined : parseFilter(type, query.filterText, profile);
    const holder = kind === 'User' && filter ? await theOne(filter) : undefined;
    if (holder) {
      const texts = holder.map((user) =>
        userText(userType, user.record, user.groups, context.baseUrl, projection),
      );
      const shown = texts.slice(startIndex - 1, startIndex - 1 + count);
      return { status: 200, text: listResponseText(shown, { totalResults: texts.length, startIndex }) };
    }
    const { total, records } = filter
      ? await matching(kind, filter, query, context)
      : await directory.page(kind, startIndex, count);
    const texts = await toTexts(
      kind,
      records,
      context.baseUrl,
      (name) => wants(projection, name),
      projection,
    );
    return { status: 200, text: listResponseText(texts, { totalResults: total, startIndex }) };
  }

  /**
   * `userName eq "x"`, which providers ask before they push: the index decides, and one script reads the answer.
   * Undefined for every other filter.
   */
  async function theOne(filter: Filter): Promise<UserWithGroups[] | undefined> {
    const equality = filter.kind === 'compare' ? equalityOf(filter) : undefined;
    return equality && directory.holderOf(equality.attribute, equality.value);
  }

  async function toTexts(
    kind: Kind,
    records: StoredRecord[],
    baseUrl: string,
    wanted: (name: 'members' | 'groups') => boolean,
    projection?: ReturnType<typeof parseProjection>,
  ): Promise<string[]> {
    if (kind === 'User') {
      const groups = wanted('groups') ? await directory.groupsOf(records.map(({ id }) => id)) : [];
      return records.map((record, index) =>
        userText(userType, record, groups[index] ?? [], baseUrl, projection),
      );
    }
    const members = wanted('members')
      ? await Promise.all(records.map(({ id }) => directory.membersOf(id)))
      : [];
    return records.map((record, index) => groupText(groupType, record, members[index], baseUrl, projection));
  }

  async function matching(
    kind: Kind,
    filter: Filter,
    { startIndex, count, filterText = '' }: ListQuery,
    context: RequestContext,
  ): Promise<{ total: number; records: StoredRecord[] }> {
    // What the filter can not see need not be loaded.
    const mentions = (name: string): boolean => filterText.toLowerCase().includes(name);
    const page: StoredRecord[] = [];
    let total = 0;
    const first = startIndex - 1;
    for await (const records of candidates(kind, filter)) {
      const texts = await toTexts(kind, records, context.baseUrl, mentions);
      for (const [index, text] of texts.entries()) {
        const record = records[index];
        if (!record || !evaluateFilter(filter, JSON.parse(text))) continue;
        if (total >= first && page.length < count) page.push(record);
        total++;
      }
    }
    return { total, records: page };
  }

  async function* candidates(kind: Kind, filter: Filter): AsyncGenerator<StoredRecord[]> {
    const equality = equalityOf(filter);
    const ids = equality ? await directory.lookup(kind, equality.attribute, equality.value) : undefined;
    if (ids) yield await directory.getMany(kind, ids);
    else yield* directory.scan(kind);
  }

  return { list };
}
