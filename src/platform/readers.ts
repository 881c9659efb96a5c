// From parsed JSON to records: ids become text, nulls become absent, and a record without what identifies it is
// refused. Everything else is taken as it comes (contract 2: the published bodies were written by hand).
import { isRecord } from './answer.ts';
import type { ConsoleUser, UserAttribute, UserAttributeValue, WireGroup, WireUser } from './wire.ts';

/** One page. `startIndex` is the one that was asked for, 1-based. */
export interface ListPage<T> {
  startIndex: number;
  totalResults: number;
  resources: T[];
}

/** Makes the error for an answer that cannot be read; the reason must not quote the answer. */
export type Refuse = (reason: string) => Error;

/** Turns the JSON of a success (undefined: no body) into a record, or throws what `refuse` makes. */
export type Reader<T> = (body: unknown, refuse: Refuse) => T;

/** Longest id, characters: ids stand in addresses. */
const MAX_ID = 1000;
/** Most resources of one list. A walk remembers the id of each. */
const MAX_TOTAL = 2_000_000;

/**
 * An id as text, or undefined for what cannot be one. Numbers beyond 2^53 are refused: they would address another record.
 */
export function textId(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== 'string' || value === '' || value.length > MAX_ID) return undefined;
  return value === '__proto__' || /\p{Cc}/u.test(value) ? undefined : value;
}

function record(body: unknown, what: string, refuse: Refuse): Record<string, unknown> {
  if (isRecord(body)) return body;
  throw refuse(body === undefined ? `an empty answer where ${what} was promised` : `no ${what}`);
}

function identified(body: unknown, what: string, refuse: Refuse): Record<string, unknown> {
  const members = record(body, what, refuse);
  const id = textId(members['id']);
  if (id === undefined) throw refuse(`${what} without a usable id`);
  members['id'] = id;
  for (const key of Object.keys(members)) if (members[key] === null) delete members[key];
  return members;
}

function isTextTrue(value: unknown): boolean | undefined {
  if (typeof value !== 'string') return undefined;
  const lower = value.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : undefined;
}

/** A SCIM user; `active` as text becomes a boolean. */
export const readUser: Reader<WireUser> = (body, refuse) => {
  const members = identified(body, 'user', refuse);
  if (typeof members['userName'] !== 'string') throw refuse('user without userName');
  const active = isTextTrue(members['active']);
  if (active !== undefined) members['active'] = active;
  if (typeof members['externalId'] === 'number') members['externalId'] = String(members['externalId']);
  return members as unknown as WireUser;
};

/** A SCIM group; the ids of its members become text. */
export const readGroup: Reader<WireGroup> = (body, refuse) => {
  const members = identified(body, 'group', refuse);
  if (typeof members['displayName'] !== 'string') throw refuse('group without displayName');
  const list = members['members'];
  if (list !== undefined) {
    if (!Array.isArray(list)) throw refuse('group whose members are no list');
    for (const member of list as unknown[]) {
      const value = isRecord(member) ? textId(member['value']) : undefined;
      if (!isRecord(member) || value === undefined) throw refuse('group member without a usable value');
      member['value'] = value;
    }
  }
  return members as unknown as WireGroup;
};

/** Undefined for an answer without body, such as 204; else as `reader`. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return (body, refuse) => (body === undefined ? undefined : reader(body, refuse));
}

/** A bare list of what `reader` reads. */
export function listOf<T>(reader: Reader<T>): Reader<T[]> {
  return (body, refuse) => {
    if (!Array.isArray(body)) throw refuse('no list');
    return body.map((entry: unknown) => reader(entry, refuse));
  };
}

/** A SCIM ListResponse; missing `Resources` count as none, `itemsPerPage` is ignored (contract 2.5). */
export function readScimList<T>(reader: Reader<T>, startIndex: number): Reader<ListPage<T>> {
  const resources = listOf(reader);
  return (body, refuse) => {
    const members = record(body, 'list', refuse);
    const total = members['totalResults'];
    const totalResults = typeof total === 'string' && /^\d+$/.test(total) ? Number(total) : total;
    if (typeof totalResults !== 'number' || !Number.isSafeInteger(totalResults) || totalResults < 0) {
      throw refuse('list without totalResults');
    }
    if (totalResults > MAX_TOTAL) throw refuse(`list of more than ${MAX_TOTAL} resources`);
    return { startIndex, totalResults, resources: resources(members['Resources'] ?? [], refuse) };
  };
}

/** What one answer of a REST list holds; the older style fills `data` and `count` only (contract 3.1). */
export interface RestPage<T> {
  items: T[] | undefined;
  data: T[] | undefined;
  count: number | undefined;
  /** Undefined when the answer has no pageInfo. */
  hasNextPage: boolean | undefined;
  endCursor: string | undefined;
}

/** A REST list in cursor style, offset style or both. */
export function readRestList<T>(reader: Reader<T>): Reader<RestPage<T>> {
  const rows = optional(listOf(reader));
  return (body, refuse) => {
    const members = record(body, 'list', refuse);
    const info = isRecord(members['pageInfo']) ? members['pageInfo'] : {};
    const { hasNextPage, endCursor } = info;
    const count = members['count'];
    return {
      items: rows(members['items'] ?? undefined, refuse),
      data: rows(members['data'] ?? undefined, refuse),
      count: typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined,
      hasNextPage: typeof hasNextPage === 'boolean' ? hasNextPage : undefined,
      endCursor: typeof endCursor === 'string' && endCursor !== '' ? endCursor : undefined,
    };
  };
}

/** A console user; a missing e-mail becomes the empty text, which matches nobody. */
export const readConsoleUser: Reader<ConsoleUser> = (body, refuse) => {
  const members = identified(body, 'console user', refuse);
  if (typeof members['username'] !== 'string') throw refuse('console user without username');
  if (typeof members['email'] !== 'string') members['email'] = '';
  return members as unknown as ConsoleUser;
};

/** An attribute definition. An unknown type is kept as it is: the caller decides. */
export const readAttribute: Reader<UserAttribute> = (body, refuse) => {
  const members = identified(body, 'user attribute', refuse);
  if (typeof members['name'] !== 'string') throw refuse('user attribute without name');
  if (typeof members['type'] !== 'string') throw refuse('user attribute without type');
  return members as unknown as UserAttribute;
};

/** A stored value; `value` null means unset and stays. */
export const readAttributeValue: Reader<UserAttributeValue> = (body, refuse) => {
  const members = record(body, 'attribute value', refuse);
  const userId = textId(members['userId']);
  const userAttributeId = textId(members['userAttributeId']);
  if (userId === undefined || userAttributeId === undefined) {
    throw refuse('attribute value without usable ids');
  }
  members['userId'] = userId;
  members['userAttributeId'] = userAttributeId;
  return members as unknown as UserAttributeValue;
};
