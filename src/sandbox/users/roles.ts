// Handles roles of users, and user groups of the console API (contract 3.5).
import { requireAdmin } from '../auth.ts';
import { audit, pathNumber, queryText, type Call, type HandlerReply } from '../call.ts';
import { cursorPage } from '../paging.ts';
import { SandboxProblem } from '../problem.ts';
import type { TenantRole, UserRecord } from '../records.ts';
import { removeGroup } from './group-life.ts';
import { requireUser } from './accounts.ts';
import { changePerson } from './people.ts';

/** Handles `GET /api/v1/roles`: custom roles only. */
export function listRoles(call: Call): HandlerReply {
  requireAdmin(call.caller);
  const custom = call.state.roles.rows().filter((role) => !role.isBuiltIn);
  const show = ({ id, name, description, policies }: TenantRole) => ({ id, name, description, policies });
  return { status: 200, body: cursorPage(call, 'role', custom, show) };
}

/** Returns the role and the user of the path. @throws 404 if one is unknown, checked before the rights (ASSUMED-52); 403 */
function roleAndUser(call: Call): { role: TenantRole; user: UserRecord } {
  const role = call.state.roles.get(pathNumber(call, 'roleId'));
  const user = requireUser(call, pathNumber(call, 'userId'));
  // The Admin role cannot be assigned here and counts as unknown (row USER-18 of docs/platform-coverage.md).
  if (!role || role.name === 'Admin') throw new SandboxProblem(404, 'Role not found');
  requireAdmin(call.caller);
  return { role, user };
}

/** Handles `PUT /api/v1/roles/{roleId}/users/{userId}`: 204, also when already assigned; 404. */
export function assignRole(call: Call): HandlerReply {
  const { role, user } = roleAndUser(call);
  if (!user.roles.has(role.name)) {
    changePerson(call, user, { roles: new Set([...user.roles, role.name]) });
    audit(call, 'Assigned role to user', { role: role.name, username: user.userName });
  }
  return { status: 204 };
}

/** Handles `DELETE /api/v1/roles/{roleId}/users/{userId}`: 204, also when not assigned; 404. */
export function removeRole(call: Call): HandlerReply {
  const { role, user } = roleAndUser(call);
  if (user.roles.has(role.name)) {
    changePerson(call, user, { roles: new Set([...user.roles].filter((name) => name !== role.name)) });
    audit(call, 'Removed role from user', { role: role.name, username: user.userName });
  }
  return { status: 204 };
}

/** Handles `GET /api/v1/user-groups`: groups with member counts; `search` is a substring of the name. */
export function listUserGroups(call: Call): HandlerReply {
  requireAdmin(call.caller);
  const { groups, memberships } = call.read;
  const wanted = queryText(call, 'search')?.toLowerCase() ?? '';
  const matches = groups.rows().filter((group) => group.displayName.toLowerCase().includes(wanted));
  const body = cursorPage(call, 'user-group', matches, ({ id, displayName: name }) => ({
    id,
    name,
    description: null,
    userCount: memberships.membersOf(id).size,
  }));
  return { status: 200, body };
}

/** Handles `DELETE /api/v1/groups/{id}`: 204, the members remain users; 404, checked before rights (ASSUMED-52). */
export function deleteUserGroup(call: Call): HandlerReply {
  const group = call.state.groups.get(pathNumber(call, 'id'));
  if (!group) throw new SandboxProblem(404, 'Group not found');
  requireAdmin(call.caller);
  removeGroup(call, group);
  return { status: 204 };
}
