// Reads and writes SCIM groups (contract 2.1, 2.3). Lists exclude members: a page of large groups would be tens
// of megabytes.
import { scimFilter } from './filter.ts';
import { listByIndex, type ListOptions } from './pages.ts';
import { optional, readGroup, readScimList, type ListPage } from './readers.ts';
import { MEMBERS_BOUNDS, type CallOptions, type Send } from './request.ts';
import { patchBody, type ListRange } from './users.ts';
import type { PlatformPatchOperation, WireGroup, WireGroupInput } from './wire.ts';

const LIST = '/api/scim/v2/Groups';
const ONE = '/api/scim/v2/Groups/{id}';

/** `members: false` excludes the members from the answer. */
export interface MembersChoice {
  members?: boolean;
}

export interface PlatformGroups {
  /** Returns one page, with members unless `members` is false. */
  list(range: ListRange & { members?: false }, options?: CallOptions): Promise<ListPage<WireGroup>>;
  /** Yields all groups page by page. @throws IncompleteList unless the scan is complete */
  pages(options: ListOptions & { members?: false }): AsyncIterable<ListPage<WireGroup>>;
  /**
   * Returns at most two candidates, without members. Names are unique ignoring case; compare exactly before
   * use.
   */
  findByDisplayName(name: string, options?: CallOptions): Promise<WireGroup[]>;
  /** Returns the group with members unless `members` is false. */
  get(id: string, choice?: MembersChoice, options?: CallOptions): Promise<WireGroup>;
  /** Not idempotent: after a lost answer look the group up by name. 409 when the name is taken. */
  create(body: WireGroupInput, options?: CallOptions): Promise<WireGroup>;
  /** Returns the group in the answer, or undefined for an answer without body. */
  patch(
    id: string,
    operations: PlatformPatchOperation[],
    options?: CallOptions,
  ): Promise<WireGroup | undefined>;
  /** Replaces the group with all its members; a body without members removes them. */
  replace(id: string, body: WireGroupInput, options?: CallOptions): Promise<WireGroup>;
  /** Deletes the group; its members remain users. PlatformResponse 404 means that it was deleted before. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** Returns the query parameter `excludedAttributes`; undefined leaves it out. */
function excluded(members: boolean | undefined): string | undefined {
  return members === false ? 'members' : undefined;
}

/** Reads and writes SCIM groups over `send`; every function throws what `send` throws. */
export function createGroupCalls(send: Send): PlatformGroups {
  const list: PlatformGroups['list'] = ({ startIndex = 1, count, filter, members }, options) =>
    send(
      {
        family: 'scim',
        method: 'GET',
        route: LIST,
        query: { startIndex, count, filter, excludedAttributes: excluded(members) },
        read: readScimList(readGroup, startIndex),
      },
      options,
    );

  return {
    list,
    pages(options) {
      const { count, members } = options;
      const choice = members === undefined ? {} : { members };
      return listByIndex(
        (startIndex, callOptions) => list({ startIndex, count, ...choice }, callOptions),
        { method: 'GET', route: LIST },
        options,
      );
    },
    async findByDisplayName(name, options) {
      const filter = scimFilter('displayName', name);
      return (await list({ startIndex: 1, count: 2, filter, members: false }, options)).resources;
    },
    get: (id, choice = {}, options) =>
      send(
        {
          family: 'scim',
          method: 'GET',
          route: ONE,
          params: { id },
          query: { excludedAttributes: excluded(choice.members) },
          ...(choice.members === false ? {} : { bounds: MEMBERS_BOUNDS }),
          read: readGroup,
        },
        options,
      ),
    create: (body, options) =>
      send({ family: 'scim', method: 'POST', route: LIST, body, read: readGroup }, options),
    patch: (id, operations, options) =>
      send(
        {
          family: 'scim',
          method: 'PATCH',
          route: ONE,
          params: { id },
          body: patchBody(operations),
          bounds: MEMBERS_BOUNDS,
          read: optional(readGroup),
        },
        options,
      ),
    replace: (id, body, options) =>
      send(
        {
          family: 'scim',
          method: 'PUT',
          route: ONE,
          params: { id },
          body,
          bounds: MEMBERS_BOUNDS,
          read: readGroup,
        },
        options,
      ),
    delete: (id, options) =>
      send({ family: 'scim', method: 'DELETE', route: ONE, params: { id }, read: 'ignore' }, options),
  };
}
