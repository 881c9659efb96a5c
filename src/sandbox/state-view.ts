// Returns the stored state as JSON for assertions: `GET /state` of the control port (docs/sandbox.md). Secrets
// are left out.
import { showBranches, showDeployments } from './control-plane/state-view.ts';
import { showExternalUsers, showThreads } from './chat/state-view.ts';
import type { SandboxJsonObject } from './json.ts';
import type { GroupRecord, UserRecord } from './records.ts';
import type { CurrentState } from './state.ts';
import { scimIdOf } from './users/people.ts';
import { roleNames } from './users/user-view.ts';
import { showWorkspace } from './workspace/state-view.ts';
import { isoTime } from '../support/sources.ts';

function showUser(current: CurrentState, user: UserRecord): SandboxJsonObject {
  const { state } = current;
  const values = [...user.values].flatMap(([id, value]): [string, unknown][] => {
    const name = state.attributes.get(id)?.name;
    return name === undefined ? [] : [[name, value]];
  });
  return {
    id: user.id,
    scimId: scimIdOf(current.settings, user),
    userName: user.userName,
    email: user.email,
    emails: user.emails,
    externalId: user.externalId,
    displayName: user.displayName,
    givenName: user.givenName,
    familyName: user.familyName,
    firstName: user.firstName,
    title: user.title,
    active: !user.isDeactivated,
    isAdmin: user.isAdmin,
    roles: roleNames(user),
    permissions: [...user.permissions],
    attributes: Object.fromEntries(values),
    groups: [...state.memberships.groupsOf(user.id)].flatMap((id) => state.groups.get(id)?.displayName ?? []),
    aliases: user.aliases.map(({ username, source }) => ({ username, source })),
    createdAt: isoTime(user.createdAtMs),
    updatedAt: isoTime(user.updatedAtMs),
  };
}

function showGroup(current: CurrentState, group: GroupRecord): SandboxJsonObject {
  const { state } = current;
  return {
    id: group.id,
    scimId: scimIdOf(current.settings, group),
    displayName: group.displayName,
    externalId: group.externalId,
    members: [...state.memberships.membersOf(group.id)].flatMap((id) => state.users.get(id)?.userName ?? []),
    createdAt: isoTime(group.createdAtMs),
    updatedAt: isoTime(group.updatedAtMs),
  };
}

function showCredentials(current: CurrentState, kind: 'apiKey' | 'oauthToken'): SandboxJsonObject[] {
  return [...current.state.credentials.values()]
    .filter((credential) => credential.kind === kind)
    .map(({ name, ownerId, deployments, expiresAtMs }) => ({
      name,
      owner: current.state.users.get(ownerId)?.userName ?? null,
      deployments: deployments && [...deployments],
      expiresAt: expiresAtMs === null ? null : isoTime(expiresAtMs),
    }));
}

/** Returns the parts of the state by name; each part is built on demand. */
export function stateParts(current: CurrentState): ReadonlyMap<string, () => unknown> {
  const { state, settings } = current;
  return new Map<string, () => unknown>([
    ['settings', () => settings],
    ['users', () => state.users.rows().map((user) => showUser(current, user))],
    ['groups', () => state.groups.rows().map((group) => showGroup(current, group))],
    ['attributeDefinitions', () => state.attributes.rows()],
    ['roles', () => state.roles.rows()],
    ['apiKeys', () => showCredentials(current, 'apiKey')],
    ['oauthTokens', () => showCredentials(current, 'oauthToken')],
    ['deployments', () => showDeployments(current)],
    ['branches', () => showBranches(current)],
    ['workspace', () => showWorkspace(current)],
    ['auditEvents', () => state.audit.events(settings.auditRetentionEvents)],
    ['threads', () => showThreads(current)],
    ['externalUsers', () => showExternalUsers(current)],
  ]);
}
