// Parses the query parameters of a list and writes the ListResponse (RFC 7644 §3.4.2; cursors: RFC 9865).
import { invalidCount, invalidCursor, invalidFilter, invalidValue } from './errors.ts';
import { member, messageOf } from './json.ts';
import type { Profile } from './profiles.ts';
import { LIST_RESPONSE_URN, SEARCH_REQUEST_URN } from './urns.ts';

export interface ListQuery {
  /** Counted from 1. */
  readonly startIndex: number;
  /** Page size, at most the configured maximum; 0 asks for totals only. */
  readonly count: number;
  /** Cursor of the page; empty for the first page, undefined when the client pages by startIndex. */
  readonly cursor?: string | undefined;
  readonly filterText?: string | undefined;
  readonly sortBy?: string | undefined;
  readonly sortOrder?: 'ascending' | 'descending' | undefined;
  readonly attributes?: string | undefined;
  readonly excludedAttributes?: string | undefined;
}

/** Page sizes: of a request without `count`, and the largest. */
interface ListLimits {
  readonly defaultCount: number;
  readonly maxCount: number;
}

const PARAMETERS = [
  'startIndex',
  'count',
  'cursor',
  'filter',
  'sortBy',
  'sortOrder',
  'attributes',
  'excludedAttributes',
] as const;
type Parameter = (typeof PARAMETERS)[number];
/** Parameters whose value is a list of attribute names. */
const NAME_LISTS: ReadonlySet<Parameter> = new Set(['attributes', 'excludedAttributes']);

/** The parameters of a list before they are checked: all are text in a URL; a `.search` body may have numbers and lists. */
type RawListQuery = Readonly<Partial<Record<Parameter, unknown>>>;

const isAbsent = (raw: unknown): boolean => raw === undefined || raw === null || raw === '';

/** Returns a whole number, `fallback` without one. @throws the error that `refuse` creates */
function integer(name: string, raw: unknown, fallback: number, refuse = invalidValue): number {
  if (isAbsent(raw)) return fallback;
  // A text of more than 15 digits would be rounded as a number, so it is refused.
  const value = typeof raw === 'string' && /^\s*[+-]?\d{1,15}\s*$/.test(raw) ? Number(raw) : raw;
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw refuse(`"${name}" must be an integer.`);
}

function text(name: string, raw: unknown): string | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (typeof raw !== 'string') throw invalidValue(`"${name}" must be text.`);
  return raw.trim() === '' ? undefined : raw;
}

function order(raw: unknown): 'ascending' | 'descending' | undefined {
  const value = text('sortOrder', raw)?.toLowerCase();
  if (value === undefined || value === 'ascending' || value === 'descending') return value;
  throw invalidValue('"sortOrder" must be "ascending" or "descending".');
}

/**
 * Reads the cursor (RFC 9865 §2); an empty one asks for the first page. A page by cursor needs a count of at least 1,
 * because an empty page has no position for the next cursor, and must not have a startIndex.
 */
function cursorOf(raw: RawListQuery, count: number): string | undefined {
  const { cursor } = raw;
  if (cursor === undefined || cursor === null) return undefined;
  if (typeof cursor !== 'string') throw invalidCursor('"cursor" must be text.');
  if (!isAbsent(raw.startIndex)) throw invalidValue('"startIndex" and "cursor" exclude each other.');
  if (count < 1) throw invalidCount('"count" must be at least 1 together with "cursor".');
  return cursor;
}

// An empty filter is refused: the client may have failed to fill it in, and must not get all resources.
function filterOf(raw: unknown): string | undefined {
  const filter = text('filter', raw);
  if (filter === undefined && typeof raw === 'string') throw invalidFilter('"filter" is empty.');
  return filter;
}

/** Checks and converts the parameters; used by `parseListQuery` and `parseSearchRequest`. @throws as these two */
function toListQuery(raw: RawListQuery, limits: ListLimits): ListQuery {
  const refuseCount = raw.cursor === undefined || raw.cursor === null ? invalidValue : invalidCount;
  const count = integer('count', raw.count, limits.defaultCount, refuseCount);
  return {
    startIndex: Math.min(Number.MAX_SAFE_INTEGER, Math.max(1, integer('startIndex', raw.startIndex, 1))),
    count: Math.min(limits.maxCount, Math.max(0, count)),
    cursor: cursorOf(raw, count),
    filterText: filterOf(raw.filter),
    sortBy: text('sortBy', raw.sortBy),
    sortOrder: order(raw.sortOrder),
    attributes: text('attributes', raw.attributes),
    excludedAttributes: text('excludedAttributes', raw.excludedAttributes),
  };
}

const BY_LOWER_CASE: ReadonlyMap<string, Parameter> = new Map(
  PARAMETERS.map((name) => [name.toLowerCase(), name]),
);

/**
 * Reads the parameters of a URL. Names match without regard to case, because an ignored `Filter` would return all
 * resources. Repeated `attributes` are combined; of other repeated parameters the first counts.
 */
export function readQuery(query: URLSearchParams): Partial<Record<Parameter, string>> {
  const raw: Partial<Record<Parameter, string>> = {};
  for (const [key, value] of query) {
    const name = BY_LOWER_CASE.get(key.toLowerCase());
    if (name === undefined) continue;
    const before = raw[name];
    if (before === undefined) raw[name] = value;
    else if (NAME_LISTS.has(name)) raw[name] = `${before},${value}`;
  }
  return raw;
}

/**
 * Reads list parameters as leniently as RFC 7644 §3.4.2.4 says: startIndex below 1 is 1, a negative count is
 * 0, a count above the maximum is the maximum. Unknown parameters are ignored.
 * @throws 400 invalidValue for a malformed parameter, 400 invalidCount for the count of a page by cursor, 400 invalidFilter for
 * an empty filter
 */
export function parseListQuery(query: URLSearchParams, limits: ListLimits): ListQuery {
  return toListQuery(readQuery(query), limits);
}

/** Returns a list of names as in a URL, separated by commas; any other value unchanged. */
function joined(name: string, raw: unknown): unknown {
  if (!Array.isArray(raw)) return raw;
  if (raw.some((item) => typeof item !== 'string')) throw invalidValue(`"${name}" must list names.`);
  return raw.join(',');
}

/**
 * Converts a SearchRequest, the body of POST /.search (RFC 7644 §3.4.3), to a list query. `attributes` may be a list, as in the
 * RFC, or text.
 * @throws 400 invalidSyntax when the body is no object or no SearchRequest, 400 invalidCursor when the cursor is not text, and as
 * `parseListQuery`
 */
export function parseSearchRequest(body: unknown, limits: ListLimits, profile: Profile): ListQuery {
  const message = messageOf(body, SEARCH_REQUEST_URN, profile);
  const raw = PARAMETERS.map((name) => {
    const value = member(message, name);
    return [name, NAME_LISTS.has(name) ? joined(name, value) : value];
  });
  return toListQuery(Object.fromEntries(raw) as RawListQuery, limits);
}

export interface ListPosition {
  /** Number of all matches. */
  readonly totalResults: number;
  /** Position of the first resource in the list, from 1; undefined in a page by cursor. */
  readonly startIndex?: number | undefined;
  /** Cursor of the next page; undefined in the last page (RFC 9865 §2). */
  readonly nextCursor?: string | undefined;
}

/** Builds a ListResponse. `itemsPerPage` is the number of resources in this answer: Okta refuses another number. */
export function listResponse(resources: readonly object[], position: ListPosition) {
  const { totalResults, startIndex, nextCursor } = position;
  return {
    schemas: [LIST_RESPONSE_URN],
    totalResults,
    ...(startIndex !== undefined && { startIndex }),
    itemsPerPage: resources.length,
    ...(nextCursor !== undefined && { nextCursor }),
    Resources: resources,
  };
}

/** Builds a ListResponse as text from resources that are JSON text. */
export function listResponseText(resourcesJson: readonly string[], position: ListPosition): string {
  const empty = JSON.stringify({ ...listResponse([], position), itemsPerPage: resourcesJson.length });
  // `Resources` is the last key, so the text ends with `[]}`.
  return `${empty.slice(0, -2)}${resourcesJson.join(',')}]}`;
}
