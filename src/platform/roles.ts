// Reads and assigns roles, and reads and deletes user groups, outside SCIM (contract 3.5).
import { textsIn, type Reader } from './readers.ts';
import { identified } from './fields.ts';
import { callsOf, type CallOptions, type Send } from './request.ts';
import { listRest } from './rest-list.ts';

export interface CustomRole {
  id: string;
  name: string;
  description?: string;
  /** The record as received, with its policies. */
  record: Readonly<Record<string, unknown>>;
}

export interface UserGroup {
  id: string;
  name: string;
  /** Number of members. */
  userCount: number;
}

const ROLE_OF_USER = '/api/v1/roles/{roleId}/users/{userId}';

const readRole: Reader<CustomRole> = (body, refuse) => {
  const role = identified(body, 'role', refuse);
  return {
    id: role.id,
    name: role.text('name'),
    ...textsIn(role.all, ['description']),
    record: role.all,
  };
};

const readUserGroup: Reader<UserGroup> = (body, refuse) => {
  const group = identified(body, 'user group', refuse);
  const { userCount } = group.all;
  return {
    id: group.id,
    name: group.text('name'),
    userCount: typeof userCount === 'number' ? userCount : 0,
  };
};

export type PlatformRoles = ReturnType<typeof createRoles>;
export type PlatformUserGroups = ReturnType<typeof createUserGroups>;

/** Reads and assigns roles over `send`; every function throws PlatformError (errors.ts). */
export function createRoles(send: Send) {
  const change =
    (method: 'PUT' | 'DELETE') =>
    (roleId: string, userId: string, options?: CallOptions): Promise<void> =>
      callsOf(send, 'rest')(method, ROLE_OF_USER, { params: { roleId, userId }, read: 'ignore' }, options);
  return {
    /** Yields the custom roles; built-in roles are not listed. */
    list: (options?: CallOptions) => listRest(send, { route: '/api/v1/roles', read: readRole }, options),
    /** Gives the role to the user. Idempotent. PlatformResponse 404 for unknown ids, and for the role Admin. */
    assign: change('PUT'),
    /** Takes the role from the user. Idempotent. PlatformResponse 404 for unknown ids. */
    remove: change('DELETE'),
  };
}

/**
 * Reads and deletes groups of the console API over `send`; every function throws PlatformError (errors.ts). The ids of these
 * groups differ from their SCIM ids. This API cannot create groups or change their members; SCIM does (scim-resources.ts). The
 * platform lists and deletes them under different paths.
 */
export function createUserGroups(send: Send) {
  return {
    /** Yields the groups whose name contains `search`, or all groups. */
    list: (filter: { search?: string } = {}, options?: CallOptions) =>
      listRest(send, { route: '/api/v1/user-groups', query: { ...filter }, read: readUserGroup }, options),
    /** Deletes the group; its members remain users. */
    delete: (id: string, options?: CallOptions): Promise<void> =>
      callsOf(send, 'rest')('DELETE', '/api/v1/groups/{id}', { params: { id }, read: 'ignore' }, options),
  };
}
