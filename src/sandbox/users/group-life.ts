// Creates, changes and deletes user groups, and assigns the roles mapped to a group (contract 2.3, 12.6).
import { randomUUID } from 'node:crypto';
import { SandboxProblem } from '../problem.ts';
import type { GroupRecord } from '../records.ts';
import { RESERVED_GROUP_PREFIX } from '../settings.ts';
import type { CurrentState } from '../state.ts';
import { changePerson } from './people.ts';

/** One change of a member list; ids are platform user ids. */
export type GroupMemberStep =
  | { kind: 'add'; userIds: readonly number[] }
  | { kind: 'remove'; userIds: readonly number[] }
  | { kind: 'replace'; userIds: readonly number[] };

/** Throws 400 for reserved names (ASSUMED-18) and 409 for a name in use by another group (ASSUMED-17). */
export function requireGroupName(current: CurrentState, displayName: string, ownId?: number): void {
  if (displayName.toLowerCase().startsWith(RESERVED_GROUP_PREFIX)) {
    throw new SandboxProblem(400, 'Names starting with system: are reserved', 'invalidValue');
  }
  const [holder] = current.state.groups.find('displayName', displayName.toLowerCase());
  if (holder && holder.id !== ownId)
    throw new SandboxProblem(409, 'A group with this displayName exists', 'uniqueness');
}

/** Creates an empty group; throws as `requireGroupName`. */
export function createGroup(
  current: CurrentState,
  displayName: string,
  externalId: string | null,
): GroupRecord {
  requireGroupName(current, displayName);
  const group: GroupRecord = {
    id: current.state.groups.nextId(),
    uuid: randomUUID(),
    displayName,
    externalId,
    createdAtMs: current.nowMs,
    updatedAtMs: current.nowMs,
  };
  current.state.groups.put(group);
  return group;
}

/** Deletes the group; its members stay users and keep the roles mapped to the group (contract 2.7). */
export function removeGroup(current: CurrentState, group: GroupRecord): void {
  const { memberships, groups } = current.state;
  for (const userId of [...memberships.membersOf(group.id)]) memberships.remove(group.id, userId);
  groups.remove(group.id);
}

/**
 * Applies one step and returns the ids of the users who joined. It is not an error to add a user who is a member already, or
 * to remove one who is not (ASSUMED-20).
 */
export function applyMemberStep(current: CurrentState, groupId: number, step: GroupMemberStep): number[] {
  const { memberships } = current.state;
  if (step.kind === 'remove') {
    for (const userId of step.userIds) memberships.remove(groupId, userId);
    return [];
  }
  if (step.kind === 'replace') {
    const wanted = new Set(step.userIds);
    for (const userId of [...memberships.membersOf(groupId)]) {
      if (!wanted.has(userId)) memberships.remove(groupId, userId);
    }
  }
  return step.userIds.filter((userId) => memberships.add(groupId, userId));
}

/** Returns the existing roles, never Admin, that the tenant's mapping assigns to members of the group (ASSUMED-103). */
function mappedRoles(current: CurrentState, groupName: string): string[] {
  const wanted = groupName.toLowerCase();
  const names = Object.entries(current.settings.groupsRolesMap)
    .filter(([name]) => name.toLowerCase() === wanted)
    .flatMap(([, roles]) => roles);
  return names.flatMap((name) => {
    const [role] = current.state.roles.find('name', name.toLowerCase());
    return role && role.name !== 'Admin' ? [role.name] : [];
  });
}

/**
 * Gives users who joined a group the roles that the settings map to that group. Returns the new assignments, for the
 * audit log (ASSUMED-104 to ASSUMED-106).
 */
export function assignMappedRoles(
  current: CurrentState,
  group: GroupRecord,
  joined: readonly number[],
): { username: string; role: string }[] {
  const roles = mappedRoles(current, group.displayName);
  if (roles.length === 0) return [];
  return joined.flatMap((userId) => {
    const user = current.state.users.get(userId);
    const added = user ? roles.filter((role) => !user.roles.has(role)) : [];
    if (!user || added.length === 0) return [];
    changePerson(current, user, { roles: new Set([...user.roles, ...added]) });
    return added.map((role) => ({ username: user.userName, role }));
  });
}
