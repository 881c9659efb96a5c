// Lists (RFC 7644 §3.4.2) and .search (§3.4.3): reads the query, picks the way to its page, writes the answer.
import type { UserWithGroups } from '../directory/directory.ts';
import type { Kind, StoredRecord } from '../directory/records.ts';
import {
  equalityOf,
  listResponseText,
  notFound,
  parseProjection,
  spanningType,
  wants,
  type Filter,
  type ListQuery,
} from '../scim/index.ts';
import { userText } from './answers.ts';
import type { Answer, ProviderDeps, RequestContext } from './context.ts';
import { createMatches, wantedOf, type Scope, type Wanted } from './matches.ts';
import { createPages, type Found, type FoundPage } from './pages.ts';
import { createTexts } from './texts.ts';

/** Page sizes announced in ServiceProviderConfig. */
export const LIST_LIMITS = { defaultCount: 100, maxCount: 1000 };

export type Search = ReturnType<typeof createSearch>;

export function createSearch(deps: ProviderDeps) {
  const { directory, userType, groupType } = deps;
  const textsOf = createTexts(deps);
  const pages = createPages(deps, createMatches(deps, textsOf));
  const typeOf = { User: userType, Group: groupType };
  const single: Record<Kind, Scope> = {
    User: { kind: 'User', names: userType },
    Group: { kind: 'Group', names: groupType },
  };
  const all: readonly Scope[] = [
    { kind: 'User', names: spanningType(userType, [groupType]) },
    { kind: 'Group', names: spanningType(groupType, [userType]) },
  ];

  /** Resources of one type. @throws 400 invalidFilter, invalidValue, invalidCursor */
  async function list(kind: Kind, query: ListQuery, context: RequestContext): Promise<Answer> {
    const wanted = wantedOf(single[kind], query, deps);
    const isPlain = kind === 'User' && query.cursor === undefined;
    const holder = isPlain && wanted.filter ? await theOne(wanted.filter) : undefined;
    if (!holder) return answer([wanted], query, context);
    const projection = parseProjection(userType, query);
    const texts = holder.map((user) =>
      userText(userType, user.record, user.groups, context.baseUrl, projection),
    );
    const { startIndex, count } = query;
    const shown = texts.slice(startIndex - 1, startIndex - 1 + count);
    return { status: 200, text: listResponseText(shown, { totalResults: texts.length, startIndex }) };
  }

  /** Resources of all types, users first: `.search` at the root (RFC 7644 §3.4.3). @throws as `list` */
  const everywhere = (query: ListQuery, context: RequestContext): Promise<Answer> =>
    answer(
      all.map((scope) => wantedOf(scope, query, deps)),
      query,
      context,
    );

  async function answer(
    wanted: readonly Wanted[],
    query: ListQuery,
    context: RequestContext,
  ): Promise<Answer> {
    const { found, position } = await pageOf(wanted, query, context.baseUrl);
    const texts = await shownTexts(found, query, context.baseUrl);
    return { status: 200, text: listResponseText(texts, position) };
  }

  function pageOf(wanted: readonly Wanted[], query: ListQuery, baseUrl: string): Promise<FoundPage> {
    if (query.cursor !== undefined) return pages.byCursor(wanted, query, baseUrl);
    if (query.sortBy !== undefined) return pages.sorted(wanted, query, baseUrl);
    if (query.filterText !== undefined) return pages.filtered(wanted, query, baseUrl);
    return pages.everything(wanted, query);
  }

  /**
   * `userName eq "x"`, which providers ask before they push: the index decides, and one script reads the answer.
   * Undefined for every other filter.
   */
  async function theOne(filter: Filter): Promise<UserWithGroups[] | undefined> {
    const equality = filter.kind === 'compare' ? equalityOf(filter) : undefined;
    return equality && directory.holderOf(equality.attribute, equality.value);
  }

  /**
   * Id of the user that `/Me` is (RFC 7644 §3.11): who has the subject as externalId, else as userName.
   * @throws 404 when there is nobody, or several share the externalId
   */
  async function subject(name: string): Promise<string> {
    for (const attribute of name === '' ? [] : ['externalid', 'username']) {
      const [user, another] = (await directory.holderOf(attribute, name)) ?? [];
      if (another) break;
      if (user) return user.record.id;
    }
    throw notFound('The token speaks for nobody who is here.');
  }

  /** Each type is loaded as a whole; then the texts take the places of their records. */
  async function shownTexts(found: Found[], query: ListQuery, baseUrl: string): Promise<string[]> {
    const shown = new Map<StoredRecord, string>();
    for (const kind of new Set(found.map((each) => each.kind))) {
      const records = found.filter((each) => each.kind === kind).map(({ record }) => record);
      const projection = parseProjection(typeOf[kind], query);
      const texts = await textsOf(kind, records, baseUrl, (name) => wants(projection, name), projection);
      for (const [index, record] of records.entries()) shown.set(record, texts[index] ?? '');
    }
    return found.map(({ record }) => shown.get(record) ?? '');
  }

  return { list, everywhere, subject };
}
