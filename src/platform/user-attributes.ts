// Reads and writes user attributes and their values (contract 3.1, 3.2).
import { PlatformDecode } from './errors.ts';
import { readByCursor, listByIndex } from './pages.ts';
import {
  listOf,
  optional,
  readAttribute,
  readAttributeValue,
  readRestList,
  type RestPage,
} from './readers.ts';
import type { CallOptions, Send } from './request.ts';
import type {
  AttributeValue,
  UserAttribute,
  UserAttributeInput,
  UserAttributeValue,
  WireAttributeValueInput,
} from './wire.ts';

const DEFINITIONS = '/api/v1/user-attributes';
const DEFINITION = `${DEFINITIONS}/{id}`;
const VALUES = '/api/v1/user-attribute-values';
const PAGE_SIZE = 100;
/** 10,000 definitions; a longer list counts as endless. */
const MAX_PAGES = 100;

export interface PlatformAttributes {
  /** Returns all definitions. @throws IncompleteList when the end of the list is not proven */
  list(options?: CallOptions): Promise<UserAttribute[]>;
  /** Not idempotent: after a lost answer list again. 409, or 400 on some tenants, when the name exists. */
  create(input: UserAttributeInput, options?: CallOptions): Promise<UserAttribute>;
  /** Changes label, description or default; name and type never change. */
  update(
    attributeId: string,
    change: Partial<Pick<UserAttributeInput, 'displayName' | 'description' | 'defaultValue'>>,
    options?: CallOptions,
  ): Promise<UserAttribute>;
  /** Deletes the definition and the values of all users, irreversibly. */
  delete(attributeId: string, options?: CallOptions): Promise<void>;
}

export interface PlatformValues {
  /**
   * Returns the stored values of a console user; null means unset. `userId` is the account id, not the SCIM id.
   */
  list(userId: string, options?: CallOptions): Promise<UserAttributeValue[]>;
  /**
   * Sets one value; null clears it. Idempotent. Returns the stored value, or undefined for an answer without
   * body.
   */
  set(
    userId: string,
    attributeId: string,
    value: AttributeValue,
    options?: CallOptions,
  ): Promise<UserAttributeValue | undefined>;
}

/** Reads and writes attribute definitions over `send`; every function throws what `send` throws. */
export function createAttributes(send: Send): PlatformAttributes {
  const read = readRestList(readAttribute);
  const fetchPage = (
    query: Record<string, string | number | undefined>,
    options?: CallOptions,
  ): Promise<RestPage<UserAttribute>> =>
    send({ family: 'rest', method: 'GET', route: DEFINITIONS, query, read }, options);

  // Reads a list in the older style from its start: one scan must not mix both styles (contract 12.9).
  async function listByOffset(options: CallOptions): Promise<UserAttribute[]> {
    const call = { method: 'GET', route: DEFINITIONS };
    const all: UserAttribute[] = [];
    const pages = listByIndex(
      async (startIndex, pageOptions) => {
        const page = await fetchPage({ offset: startIndex - 1, limit: PAGE_SIZE }, pageOptions);
        if (page.data === undefined || page.count === undefined) {
          throw new PlatformDecode('list with neither items nor data and count', {
            ...call,
            correlationId: options.correlationId,
          });
        }
        return { startIndex, totalResults: page.count, resources: page.data };
      },
      call,
      { ...options, count: PAGE_SIZE },
    );
    for await (const page of pages) all.push(...page.resources);
    return all;
  }

  return {
    async list(options = {}) {
      const first = await fetchPage({ first: PAGE_SIZE }, options);
      if (first.items === undefined) return listByOffset(options);
      return readByCursor(
        async (after) => {
          const page = after === undefined ? first : await fetchPage({ first: PAGE_SIZE, after }, options);
          const items = page.items ?? [];
          // Without pageInfo only the count, or a page that is not full, marks the end.
          const isEnd = page.count === undefined ? items.length < PAGE_SIZE : items.length === page.count;
          return { items, hasNextPage: page.hasNextPage ?? !isEnd, endCursor: page.endCursor };
        },
        { method: 'GET', route: DEFINITIONS, correlationId: options.correlationId },
        MAX_PAGES,
      );
    },
    create: (input, options) =>
      send({ family: 'rest', method: 'POST', route: DEFINITIONS, body: input, read: readAttribute }, options),
    update: (id, body, options) =>
      send(
        { family: 'rest', method: 'PUT', route: DEFINITION, params: { id }, body, read: readAttribute },
        options,
      ),
    delete: (id, options) =>
      send({ family: 'rest', method: 'DELETE', route: DEFINITION, params: { id }, read: 'ignore' }, options),
  };
}

/**
 * Reads and writes attribute values over `send`; every function throws what `send` throws. The platform has no
 * call that writes several values (contract 3.2).
 */
export function createValues(send: Send): PlatformValues {
  return {
    list: (userId, options) =>
      send(
        {
          family: 'rest',
          method: 'GET',
          route: `${VALUES}/{userId}`,
          params: { userId },
          read: listOf(readAttributeValue),
        },
        options,
      ),
    set(userId, attributeId, value, options) {
      // Ids are text in the request and integers in answers (contract 3.2).
      const body: WireAttributeValueInput = { userId, userAttributeId: attributeId, value };
      const read = optional(readAttributeValue);
      return send({ family: 'rest', method: 'POST', route: VALUES, body, read }, options);
    },
  };
}
