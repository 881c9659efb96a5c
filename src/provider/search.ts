// Answers lists (RFC 7644 §3.4.2) and .search (RFC 7644 §3.4.3): parses filter and sort order (`typeQueryOf`), builds the page
// (pages.ts), and turns its resources into JSON (`shownTexts`). A query waits for its turn: `singles` are the turns of cheap
// requests, `lists` those of requests that read many resources.
import type { Kind } from '../directory/records.ts';
import type { UserWithGroups } from '../directory/resources/user-reads.ts';
import {
  equalityOf,
  listResponseText,
  notFound,
  parseProjection,
  spanningType,
  wants,
  type ListQuery,
} from '../scim/index.ts';
import { userText } from './answers.ts';
import type { Answer, ProviderDeps, RequestContext } from './context.ts';
import {
  createMatches,
  typeQueryOf,
  type RequestQuery,
  type QueriedType,
  type TypeQuery,
} from './matches.ts';
import { createPages, type FoundRecord, type FoundPage } from './pages.ts';
import { createTexts } from './texts.ts';

/** Numbers of resources in a page, as ServiceProviderConfig announces them. */
export const LIST_LIMITS = { defaultCount: 100, maxCount: 1000 };

/** Number of resources whose groups or members are read together; a group with many members is read alone (texts.ts). */
const TEXTS_AT_ONCE: Record<Kind, number> = { User: 100, Group: 20 };

export function createSearch(deps: ProviderDeps) {
  const { directory, userType, groupType, limits, singles, lists, pace } = deps;
  const texts = createTexts(deps);
  const pages = createPages(deps, createMatches(deps, texts));
  const typeOf = { User: userType, Group: groupType };
  const single: Record<Kind, QueriedType> = {
    User: { kind: 'User', names: userType },
    Group: { kind: 'Group', names: groupType },
  };
  // For a search over users and groups: a filter may name attributes of either type.
  const all: readonly QueriedType[] = [
    { kind: 'User', names: spanningType(userType, [groupType]) },
    { kind: 'Group', names: spanningType(groupType, [userType]) },
  ];

  /** Lists resources of one type. @throws 400 invalidFilter, invalidValue, invalidCursor */
  async function list(kind: Kind, query: ListQuery, context: RequestContext): Promise<Answer> {
    const wanted = typeQueryOf(single[kind], query, deps);
    const equality = wanted.filter && equalityOf(wanted.filter);
    // Providers send `userName eq "x"` before each push, so one script answers a filter of one comparison from an index.
    const isPlainEquality =
      kind === 'User' && query.cursor === undefined && wanted.filter?.kind === 'compare';
    // Undefined if no unique index can answer the filter; `many` if very many users share the value.
    const holders =
      isPlainEquality && equality
        ? await singles.run(() => directory.holderOf(equality.attribute, equality.value))
        : undefined;
    if (holders && holders !== 'many') return answerHolders(holders, query, context);
    // A list with a selective index costs as little as a request for one resource.
    const findsFew =
      equality && holders !== 'many' && (await directory.findsFew(kind, equality.attribute, equality.value));
    const turns = findsFew ? singles : lists;
    const signal = context.untilLeft?.();
    return turns.run(() => answer([wanted], { query, baseUrl: context.baseUrl, signal }), signal);
  }

  /** Answers with the users that an index names for a value. */
  function answerHolders(
    holders: readonly UserWithGroups[],
    query: ListQuery,
    { baseUrl }: RequestContext,
  ): Answer {
    const projection = parseProjection(userType, query);
    const texts = holders.map(({ record, groups }) =>
      userText(userType, record, groups, baseUrl, projection),
    );
    const { startIndex, count } = query;
    const shown = texts.slice(startIndex - 1, startIndex - 1 + count);
    return { status: 200, text: listResponseText(shown, { totalResults: texts.length, startIndex }) };
  }

  /** Lists resources of all types, users first, for `.search` at the root (RFC 7644 §3.4.3). @throws as `list` */
  function everywhere(query: ListQuery, { baseUrl, untilLeft }: RequestContext): Promise<Answer> {
    const wanted = all.map((type) => typeQueryOf(type, query, deps));
    const signal = untilLeft?.();
    return lists.run(() => answer(wanted, { query, baseUrl, signal }), signal);
  }

  async function answer(wanted: readonly TypeQuery[], asked: RequestQuery): Promise<Answer> {
    const { found, position } = await pageOf(wanted, asked);
    const shown = await shownTexts(found, asked);
    return { status: 200, text: listResponseText(shown, position(shown.length)) };
  }

  function pageOf(wanted: readonly TypeQuery[], asked: RequestQuery): Promise<FoundPage> {
    const { query } = asked;
    if (query.cursor !== undefined) return pages.byCursor(wanted, asked);
    if (query.sortBy !== undefined) return pages.sorted(wanted, asked);
    if (query.filterText !== undefined) return pages.filtered(wanted, asked);
    return pages.everything(wanted, asked);
  }

  /** Returns the texts of the first resources, as many as fit on a page. Members and groups count towards its size. */
  async function shownTexts(
    found: readonly FoundRecord[],
    { query, baseUrl, signal }: RequestQuery,
  ): Promise<string[]> {
    const shown: string[] = [];
    const slice = pace();
    let bytes = 0;
    for (let at = 0; at < found.length;) {
      const { kind } = found[at] as FoundRecord;
      // Texts are loaded for one resource type at a time, so a portion ends before the first record of another type.
      const following = found.slice(at, at + TEXTS_AT_ONCE[kind]);
      const otherKind = following.findIndex((each) => each.kind !== kind);
      const portion = otherKind < 0 ? following : following.slice(0, otherKind);
      const projection = parseProjection(typeOf[kind], query);
      const records = portion.map(({ record }) => record);
      const isWanted = (name: 'members' | 'groups'): boolean => wants(projection, name);
      const fits = (characters: number): boolean =>
        shown.length === 0 || bytes + characters <= limits.pageBytes;
      const options = { projection, fits, signal };
      const before = shown.length;
      for await (const built of texts.textsOf(kind, records, baseUrl, isWanted, options))
        for (const text of built) {
          if (!fits(text.length)) return shown;
          bytes += text.length;
          shown.push(text);
        }
      // The texts end before a large group for which the page has no room.
      if (shown.length < before + portion.length) return shown;
      at += portion.length;
      signal?.throwIfAborted();
      if (slice.isOver()) await slice.rest();
    }
    return shown;
  }

  /**
   * Returns the id of the user for `/Me` (RFC 7644 §3.11): the user with the subject as externalId, else as userName.
   * @throws 404 when no user has it, or several users share the externalId
   */
  async function subject(name: string): Promise<string> {
    for (const attribute of ['externalid', 'username']) {
      const holders = (await directory.holderOf(attribute, name)) ?? [];
      if (holders === 'many' || holders.length > 1) break;
      const [user] = holders;
      if (user) return user.record.id;
    }
    throw notFound('No user has the subject of this token as externalId or userName.');
  }

  return { list, everywhere, subject };
}
