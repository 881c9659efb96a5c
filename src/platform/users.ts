// Reads and writes SCIM users (contract 2.1, 2.2).
import { scimFilter } from './filter.ts';
import { listByIndex, type ListOptions } from './pages.ts';
import { optional, readScimList, readUser, type ListPage } from './readers.ts';
import type { CallOptions, Send } from './request.ts';
import type { PlatformPatchOperation, WirePatch, WireUser, WireUserInput } from './wire.ts';

const LIST = '/api/scim/v2/Users';
const ONE = '/api/scim/v2/Users/{id}';
const PATCH_URN = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Selects a part of a list: `startIndex` is 1-based, `filter` a complete SCIM filter. */
export interface ListRange {
  startIndex?: number;
  count?: number;
  filter?: string;
}

export interface PlatformUsers {
  /** Returns one page; it does not prove that the list is complete. */
  list(range: ListRange, options?: CallOptions): Promise<ListPage<WireUser>>;
  /** Yields all users page by page. @throws IncompleteList unless the scan is complete */
  pages(options: ListOptions): AsyncIterable<ListPage<WireUser>>;
  /**
   * Returns at most two candidates; two mean an ambiguous match. Compare exactly before adopting: case may
   * differ.
   */
  findBy(attribute: 'userName' | 'externalId', value: string, options?: CallOptions): Promise<WireUser[]>;
  /** Returns the user with this SCIM id. PlatformResponse 404 for an unknown id. */
  get(id: string, options?: CallOptions): Promise<WireUser>;
  /** Not idempotent: after a lost answer look the user up with findBy. 409 when the userName is taken. */
  create(body: WireUserInput, options?: CallOptions): Promise<WireUser>;
  /** Applies all operations or none. Returns the user in the answer, or undefined for an answer without body. */
  patch(
    id: string,
    operations: PlatformPatchOperation[],
    options?: CallOptions,
  ): Promise<WireUser | undefined>;
  /**
   * Replaces the user: absent core properties return to their defaults; an absent `active`, attributes, roles
   * and memberships stay (contract 2.2).
   */
  replace(id: string, body: WireUserInput, options?: CallOptions): Promise<WireUser>;
  /** Deletes the user irreversibly. PlatformResponse 404 means that the user was deleted before. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** Returns the body of a SCIM PATCH. */
export function patchBody(operations: PlatformPatchOperation[]): WirePatch {
  return { schemas: [PATCH_URN], Operations: operations };
}

/** Reads and writes SCIM users over `send`; every function throws what `send` throws. */
export function createUserCalls(send: Send): PlatformUsers {
  const list: PlatformUsers['list'] = ({ startIndex = 1, count, filter }, options) =>
    send(
      {
        family: 'scim',
        method: 'GET',
        route: LIST,
        query: { startIndex, count, filter },
        read: readScimList(readUser, startIndex),
      },
      options,
    );

  return {
    list,
    pages: (options) =>
      listByIndex(
        (startIndex, callOptions) => list({ startIndex, count: options.count }, callOptions),
        { method: 'GET', route: LIST },
        options,
      ),
    async findBy(attribute, value, options) {
      const filter = scimFilter(attribute, value);
      return (await list({ startIndex: 1, count: 2, filter }, options)).resources;
    },
    get: (id, options) =>
      send({ family: 'scim', method: 'GET', route: ONE, params: { id }, read: readUser }, options),
    create: (body, options) =>
      send({ family: 'scim', method: 'POST', route: LIST, body, read: readUser }, options),
    patch: (id, operations, options) =>
      send(
        {
          family: 'scim',
          method: 'PATCH',
          route: ONE,
          params: { id },
          body: patchBody(operations),
          read: optional(readUser),
        },
        options,
      ),
    replace: (id, body, options) =>
      send({ family: 'scim', method: 'PUT', route: ONE, params: { id }, body, read: readUser }, options),
    delete: (id, options) =>
      send({ family: 'scim', method: 'DELETE', route: ONE, params: { id }, read: 'ignore' }, options),
  };
}
