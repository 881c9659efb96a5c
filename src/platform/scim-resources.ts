// Reads and writes SCIM users and groups (contract 2.1 to 2.3).
import { listByIndex, type ListOptions } from './pages.ts';
import { optional, readGroup, readScimList, readUser, type ListPage, type Reader } from './readers.ts';
import { callsOf, MEMBERS_BOUNDS, type AnswerBounds, type CallOptions, type Send } from './request.ts';
import type {
  PlatformPatchOperation,
  WireGroup,
  WireGroupInput,
  WirePatch,
  WireUser,
  WireUserInput,
} from './wire.ts';

const USERS = '/api/scim/v2/Users';
const GROUPS = '/api/scim/v2/Groups';
const PATCH_URN = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Selects a part of a list: `startIndex` is 1-based, `filter` a complete SCIM filter. */
interface ListRange {
  startIndex?: number;
  count?: number;
  filter?: string;
}

/** Calls that users and groups have in common. `Choice`: list options of groups only; for users `unknown`, which adds no option. */
interface ScimResources<T, Input, Choice> {
  /** Returns one page; it does not prove that the list is complete. */
  list(range: ListRange & Choice, options?: CallOptions): Promise<ListPage<T>>;
  /** Yields all resources page by page. @throws IncompleteList unless the scan is complete */
  pages(options: ListOptions & Choice): AsyncIterable<ListPage<T>>;
  /** Not idempotent: after a lost answer look the resource up by name. 409 when the name is taken. */
  create(body: Input, options?: CallOptions): Promise<T>;
  /** Applies all operations or none. Returns the resource in the answer, or undefined for an answer without body. */
  patch(id: string, operations: PlatformPatchOperation[], options?: CallOptions): Promise<T | undefined>;
  /**
   * Replaces the resource. User: core properties that are absent from the body return to their defaults; an absent `active`,
   * attributes, roles and memberships stay (contract 2.2). Group: all members are replaced; a body without members removes them.
   */
  replace(id: string, body: Input, options?: CallOptions): Promise<T>;
  /** Deletes irreversibly; members of a group remain users. PlatformResponse 404 means that it was deleted before. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

export interface PlatformUsers extends ScimResources<WireUser, WireUserInput, unknown> {
  /** Returns at most two candidates; two mean an ambiguous match. Compare exactly before adopting: case may differ. */
  findBy(attribute: 'userName' | 'externalId', value: string, options?: CallOptions): Promise<WireUser[]>;
  /** Returns the user with this SCIM id. PlatformResponse 404 for an unknown id. */
  get(id: string, options?: CallOptions): Promise<WireUser>;
}

/** `members: false` excludes the members: a page of large groups would be tens of megabytes. */
export interface PlatformGroups extends ScimResources<WireGroup, WireGroupInput, { members?: false }> {
  /** Returns at most two groups with the name in any case, without members. Two are ambiguous; compare exactly before use. */
  findByDisplayName(name: string, options?: CallOptions): Promise<WireGroup[]>;
  /** Returns the group with members unless `members` is false. */
  get(id: string, choice?: { members?: boolean }, options?: CallOptions): Promise<WireGroup>;
}

/** Reads and writes SCIM users over `send`; every function throws PlatformError (errors.ts). */
export function createUserCalls(send: Send): PlatformUsers {
  const calls = createResourceCalls<WireUser, WireUserInput>(send, USERS, readUser);
  return {
    ...calls,
    async findBy(attribute, value, options) {
      const filter = scimFilter(attribute, value);
      return (await calls.list({ startIndex: 1, count: 2, filter }, options)).resources;
    },
    get: (id, options) =>
      callsOf(send, 'scim')('GET', `${USERS}/{id}`, { params: { id }, read: readUser }, options),
  };
}

/** Reads and writes SCIM groups over `send`; every function throws PlatformError (errors.ts). */
export function createGroupCalls(send: Send): PlatformGroups {
  const calls = createResourceCalls<WireGroup, WireGroupInput>(send, GROUPS, readGroup, MEMBERS_BOUNDS);
  return {
    ...calls,
    async findByDisplayName(name, options) {
      const filter = scimFilter('displayName', name);
      return (await calls.list({ startIndex: 1, count: 2, filter, members: false }, options)).resources;
    },
    get(id, { members } = {}, options) {
      const query = { excludedAttributes: excluded(members) };
      const bounds = members === false ? {} : { bounds: MEMBERS_BOUNDS };
      const request = { params: { id }, query, ...bounds, read: readGroup };
      return callsOf(send, 'scim')('GET', `${GROUPS}/{id}`, request, options);
    },
  };
}

/**
 * Creates the calls that users and groups have in common.
 * @param bounds limits of size and structure for the answers to `patch` and `replace`; default: those of every SCIM call
 */
function createResourceCalls<T extends { id: string }, Input>(
  send: Send,
  route: string,
  read: Reader<T>,
  bounds?: AnswerBounds,
): ScimResources<T, Input, { members?: false }> {
  const call = callsOf(send, 'scim');
  const one = `${route}/{id}`;
  const list = (
    { startIndex = 1, count, filter, members }: ListRange & { members?: false | undefined },
    options?: CallOptions,
  ): Promise<ListPage<T>> => {
    const query = { startIndex, count, filter, excludedAttributes: excluded(members) };
    return call('GET', route, { query, read: readScimList(read, startIndex) }, options);
  };
  return {
    list,
    pages: (options) =>
      listByIndex(
        (startIndex, callOptions) =>
          list({ startIndex, count: options.count, members: options.members }, callOptions),
        { method: 'GET', route },
        options,
      ),
    create: (body, options) => call('POST', route, { body, read }, options),
    patch(id, operations, options) {
      const body: WirePatch = { schemas: [PATCH_URN], Operations: operations };
      return call(
        'PATCH',
        one,
        { params: { id }, body, ...(bounds && { bounds }), read: optional(read) },
        options,
      );
    },
    replace: (id, body, options) =>
      call('PUT', one, { params: { id }, body, ...(bounds && { bounds }), read }, options),
    delete: (id, options) => call('DELETE', one, { params: { id }, read: 'ignore' }, options),
  };
}

/** Returns `attribute eq "value"`. RFC 7644 §3.4.2.2 defines the value as JSON, so JSON escapes it. */
export function scimFilter(attribute: string, value: string): string {
  return `${attribute} eq ${JSON.stringify(value)}`;
}

/** Returns the query parameter `excludedAttributes`; undefined leaves it out. */
function excluded(members: boolean | undefined): string | undefined {
  return members === false ? 'members' : undefined;
}
