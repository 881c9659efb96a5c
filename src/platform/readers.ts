// Reads answers of the platform: JSON, error messages, headers (contract 7), and records. Ids become text, and properties with null
// are removed. A record without its identifying properties is refused. Other properties are not checked, because real answers
// differ from the published document (contract 2).
import type { ConsoleUser, UserAttribute, UserAttributeValue, WireGroup, WireUser } from './wire.ts';
import { parseRetryAfter } from '../support/retry-after.ts';
import type { RedactText } from './redact.ts';

/** One page. `startIndex` is the requested one, 1-based. */
export interface ListPage<T> {
  startIndex: number;
  totalResults: number;
  resources: T[];
}

/** Returns the error for an unreadable answer; the reason must not quote the answer. */
export type Refuse = (reason: string) => Error;

/** Converts the JSON of a success (undefined: no body) to a record, or throws the error of `refuse`. */
export type Reader<T> = (body: unknown, refuse: Refuse) => T;

/** Longest id in characters; ids become part of a path. */
const MAX_ID = 1000;
/** Most resources in one list; a scan keeps the id of each in memory. */
const MAX_TOTAL = 2_000_000;

/**
 * Returns an id as text, or undefined when the value is not an id. Numbers beyond 2^53 are refused: rounding
 * would address another record.
 */
export function textId(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== 'string' || value === '' || value.length > MAX_ID) return undefined;
  // `__proto__` is no safe key of an object, and control characters are not safe in log lines.
  return value === '__proto__' || /\p{Cc}/u.test(value) ? undefined : value;
}

/** Reader that returns the JSON unchanged. */
export const unread: Reader<unknown> = (body) => body;

/** @throws the error of `refuse` when the body is not a JSON object */
function requireRecord(body: unknown, what: string, refuse: Refuse): Record<string, unknown> {
  if (isRecord(body)) return body;
  throw refuse(body === undefined ? `an empty answer instead of ${what}` : `no ${what}`);
}

/**
 * Changes the record in place: its id becomes text, and properties with null are removed.
 * @throws the error of `refuse` for a record without a usable id
 */
function recordWithId(body: unknown, what: string, refuse: Refuse): Record<string, unknown> {
  const fields = requireRecord(body, what, refuse);
  const id = textId(fields['id']);
  if (id === undefined) throw refuse(`${what} without a usable id`);
  fields['id'] = id;
  for (const key of Object.keys(fields)) if (fields[key] === null) delete fields[key];
  return fields;
}

/** Returns the boolean that a text such as "True" means; undefined for any other value. */
function booleanOfText(value: unknown): boolean | undefined {
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text === 'true') return true;
  return text === 'false' ? false : undefined;
}

/** Reads a SCIM user; `active` as text becomes a boolean, and is left out if it is neither true nor false. */
export const readUser: Reader<WireUser> = (body, refuse) => {
  const fields = recordWithId(body, 'user', refuse);
  if (typeof fields['userName'] !== 'string') throw refuse('user without userName');
  const active = booleanOfText(fields['active']) ?? fields['active'];
  if (typeof active === 'boolean') fields['active'] = active;
  else delete fields['active'];
  if (typeof fields['externalId'] === 'number') fields['externalId'] = String(fields['externalId']);
  return fields as unknown as WireUser;
};

/** Reads a SCIM group; the ids of its members become text. */
export const readGroup: Reader<WireGroup> = (body, refuse) => {
  const fields = recordWithId(body, 'group', refuse);
  if (typeof fields['displayName'] !== 'string') throw refuse('group without displayName');
  const list = fields['members'];
  if (list !== undefined) {
    if (!Array.isArray(list)) throw refuse('group whose members are not a list');
    for (const member of list as unknown[]) {
      const value = isRecord(member) ? textId(member['value']) : undefined;
      if (!isRecord(member) || value === undefined) throw refuse('group member without a usable value');
      member['value'] = value;
    }
  }
  return fields as unknown as WireGroup;
};

/** Returns a reader that accepts an answer without body, such as 204, as undefined. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return (body, refuse) => (body === undefined ? undefined : reader(body, refuse));
}

/** Returns a reader for a JSON array of records. */
export function listOf<T>(reader: Reader<T>): Reader<T[]> {
  return (body, refuse) => {
    if (!Array.isArray(body)) throw refuse('no list');
    return body.map((entry: unknown) => reader(entry, refuse));
  };
}

/** Returns a reader for an answer that has the record in the property `name`. */
export function under<T>(name: string, reader: Reader<T>): Reader<T> {
  return (body, refuse) => reader(isRecord(body) ? body[name] : undefined, refuse);
}

/** Returns a reader for a SCIM ListResponse. Missing `Resources` mean none; `itemsPerPage` is ignored (contract 2.5). */
export function readScimList<T>(reader: Reader<T>, startIndex: number): Reader<ListPage<T>> {
  const resources = listOf(reader);
  return (body, refuse) => {
    const fields = requireRecord(body, 'list', refuse);
    const total = fields['totalResults'];
    const totalResults = typeof total === 'string' && /^\d+$/.test(total) ? Number(total) : total;
    if (typeof totalResults !== 'number' || !Number.isSafeInteger(totalResults) || totalResults < 0) {
      throw refuse('list without totalResults');
    }
    if (totalResults > MAX_TOTAL) throw refuse(`list of more than ${MAX_TOTAL} resources`);
    return { startIndex, totalResults, resources: resources(fields['Resources'] ?? [], refuse) };
  };
}

/** One page of a REST list (contract 3.1). */
export interface RestPage<T> {
  /** Entries of a list with cursor; undefined in the older style. */
  items: T[] | undefined;
  /** Entries of a list in the older style, by offset. */
  data: T[] | undefined;
  /** Number of all entries of the list. */
  count: number | undefined;
  /** Undefined when the answer has no pageInfo. */
  hasNextPage: boolean | undefined;
  endCursor: string | undefined;
}

/** Returns a reader for a page of a REST list in cursor style, offset style or both. */
export function readRestList<T>(reader: Reader<T>): Reader<RestPage<T>> {
  const rows = optional(listOf(reader));
  return (body, refuse) => {
    const fields = requireRecord(body, 'list', refuse);
    const info = isRecord(fields['pageInfo']) ? fields['pageInfo'] : {};
    const { hasNextPage, endCursor } = info;
    const count = fields['count'];
    // null counts as absent.
    return {
      items: rows(fields['items'] ?? undefined, refuse),
      data: rows(fields['data'] ?? undefined, refuse),
      count: typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined,
      hasNextPage: typeof hasNextPage === 'boolean' ? hasNextPage : undefined,
      endCursor: typeof endCursor === 'string' && endCursor !== '' ? endCursor : undefined,
    };
  };
}

/** Reads a console user; a missing e-mail becomes the empty text, which matches no user. */
export const readConsoleUser: Reader<ConsoleUser> = (body, refuse) => {
  const fields = recordWithId(body, 'console user', refuse);
  if (typeof fields['username'] !== 'string') throw refuse('console user without username');
  if (typeof fields['email'] !== 'string') fields['email'] = '';
  return fields as unknown as ConsoleUser;
};

/** Reads an attribute definition. An unknown type is passed on; the caller decides. */
export const readAttribute: Reader<UserAttribute> = (body, refuse) => {
  const fields = recordWithId(body, 'user attribute', refuse);
  if (typeof fields['name'] !== 'string') throw refuse('user attribute without name');
  if (typeof fields['type'] !== 'string') throw refuse('user attribute without type');
  return fields as unknown as UserAttribute;
};

/** Reads a stored value; `value` null means unset and is returned as null. */
export const readAttributeValue: Reader<UserAttributeValue> = (body, refuse) => {
  const fields = requireRecord(body, 'attribute value', refuse);
  const userId = textId(fields['userId']);
  const userAttributeId = textId(fields['userAttributeId']);
  if (userId === undefined || userAttributeId === undefined) {
    throw refuse('attribute value without usable ids');
  }
  fields['userId'] = userId;
  fields['userAttributeId'] = userAttributeId;
  return fields as unknown as UserAttributeValue;
};

export type AnswerHeaders = Record<string, string | string[] | undefined>;

/** Longest text, in characters, that is taken from a body without an error message. */
const RAW_LENGTH = 200;
/** Longest error message of a body, in characters. */
const MESSAGE_LENGTH = 1000;

/** Returns true for a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is text, else ''. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns those of the named properties that are text. */
export function textsIn<Name extends string>(
  record: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): { [key in Name]?: string } {
  const texts: { [key in Name]?: string } = {};
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'string') texts[name] = value;
  }
  return texts;
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Returns a text, or the texts of a list joined by `; `; undefined when there is none. */
function messageText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return nonEmptyText(value);
  return nonEmptyText(value.filter((entry) => typeof entry === 'string').join('; '));
}

/** Returns the parsed JSON in `value`, which may be null; undefined when the text is not JSON. */
export function parseJson(body: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) as unknown };
  } catch {
    return undefined; // The parser's message quotes the body, so it is dropped.
  }
}

/** Returns true for an HTML page, which a tenant returns with status 200 for an endpoint that it does not have. */
export function isWebPage(body: string): boolean {
  return body.trimStart().startsWith('<');
}

/** Returns the title of a web page, or else its text without tags. */
function webPageText(page: string): string {
  const title = /<title[^<>]*>([^<]*)</i.exec(page)?.[1] ?? '';
  const text = title.trim() === '' ? page.replaceAll(/<[^<>]*>/g, ' ') : title;
  return text.replaceAll(/\s+/g, ' ').trim();
}

/**
 * Returns the platform's error message: the first of SCIM `detail`, `error` as text, `error.message`, `message`
 * as text or list; at most 1,000 characters. Without these it is the title of a web page, or the text of the body; at most 200.
 * Tokens are removed before the text is shortened, so no part of a token is left.
 */
export function platformMessage(body: string, redact: RedactText): string {
  const json = parseJson(body)?.value;
  const fields = isRecord(json) ? json : {};
  const nested = isRecord(fields['error']) ? nonEmptyText(fields['error']['message']) : undefined;
  const words =
    nonEmptyText(fields['detail']) ??
    nonEmptyText(fields['error']) ??
    nested ??
    messageText(fields['message']);
  if (words !== undefined) return redact(words).slice(0, MESSAGE_LENGTH);
  const raw = redact(body);
  return (isWebPage(raw) ? webPageText(raw) : raw).slice(0, RAW_LENGTH);
}

/** Returns the RFC 7644 `scimType` of an error body, or undefined. */
export function scimTypeOf(body: string): string | undefined {
  const json = parseJson(body)?.value;
  return isRecord(json) ? nonEmptyText(json['scimType']) : undefined;
}

/** Returns the first value of a header. `name` is in lower case. */
export function header(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the wait that the header Retry-After asks for, in milliseconds, or undefined. @param now Unix milliseconds */
export const retryAfterMs = (headers: AnswerHeaders, now: number): number | undefined =>
  parseRetryAfter({ value: header(headers, 'retry-after'), date: header(headers, 'date') }, now);
