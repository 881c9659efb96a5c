// Converts parsed JSON to records: ids become text, and properties with null are removed. A record without its
// identifying properties is refused. Other properties are not checked, because real answers differ from the
// published document (contract 2).
import { isRecord } from './answer.ts';
import type { ConsoleUser, UserAttribute, UserAttributeValue, WireGroup, WireUser } from './wire.ts';

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
  // Ids are used as keys of objects and in log lines.
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

/** Returns a reader for an answer that has the record under a name. */
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
