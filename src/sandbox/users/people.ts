// The life of a person, whichever door the change comes through: SCIM, the console users API or a fixture.
import { randomUUID } from 'node:crypto';
import { ownerOfUser, removeThreadsOf } from '../chat/threads.ts';
import { Problem } from '../problem.ts';
import type { Alias, UserRecord } from '../records.ts';
import { FALLBACK_ROLE, type Settings } from '../settings.ts';
import type { Scene, State } from '../state.ts';

type Derived = 'id' | 'uuid' | 'searchText' | 'createdAtMs' | 'updatedAtMs';
export type NewPerson = Partial<Omit<UserRecord, Derived | 'aliases'>> & {
  userName: string;
  aliasSource: Alias['source'];
};
export type PersonChange = Partial<Omit<UserRecord, Derived>>;

/** The tenant's default role for new users; one that no longer exists, or Admin, falls back to Viewer (contract 2.2). */
export function defaultRole(scene: Scene): string {
  const [role] = scene.state.roles.find('name', scene.settings.defaultRole.toLowerCase());
  return role && role.name !== 'Admin' ? role.name : FALLBACK_ROLE;
}

/** The SCIM id of a user or group in the configured style (ASSUMED-48). */
export function scimIdOf(settings: Settings, record: { readonly id: number; readonly uuid: string }): string {
  return settings.scimIdStyle === 'numeric' ? String(record.id) : record.uuid;
}

/** The e-mail that SCIM data implies: the primary or first entry, else a userName that looks like one (ASSUMED-13). */
export function impliedEmail(userName: string, emails: UserRecord['emails']): string {
  const chosen = emails.find((entry) => entry.primary) ?? emails[0];
  return chosen?.value ?? (/^[^\s@]+@[^\s@]+$/.test(userName) ? userName : '');
}

/** The platform's one name: displayName, else the name parts (ASSUMED-12). */
export function impliedFirstName(
  person: Pick<UserRecord, 'displayName' | 'givenName' | 'familyName'>,
): string | null {
  const parts = [person.givenName, person.familyName].filter((part) => part !== null && part !== '');
  return person.displayName ?? (parts.length > 0 ? parts.join(' ') : null);
}

function requireFreeName(state: State, userName: string, ownId: number | undefined): void {
  const [holder] = state.users.find('userName', userName.toLowerCase());
  if (holder && holder.id !== ownId) throw new Problem(409, 'userName is already taken', 'uniqueness');
}

function store(state: State, person: Omit<UserRecord, 'searchText'>): UserRecord {
  const searchText = [person.firstName ?? '', person.userName, person.email].join('\n').toLowerCase();
  const user: UserRecord = { ...person, searchText };
  state.users.put(user);
  if (user.isAdmin && !user.isDeactivated) state.activeAdmins.add(user.id);
  else state.activeAdmins.delete(user.id);
  if (user.isDeactivated) state.runs.userLeft(user.id);
  return user;
}

/** Creates a person; without `roles` they get the default role. Throws 409 `uniqueness`. */
export function createPerson(scene: Scene, person: NewPerson): UserRecord {
  const { aliasSource, ...given } = person;
  requireFreeName(scene.state, given.userName, undefined);
  const id = scene.state.users.nextId();
  const alias: Alias = { id, username: given.userName, source: aliasSource, createdAtMs: scene.nowMs };
  return store(scene.state, {
    email: impliedEmail(given.userName, given.emails ?? []),
    emails: [],
    externalId: null,
    displayName: null,
    givenName: null,
    familyName: null,
    firstName: null,
    title: null,
    isAdmin: false,
    isDeactivated: false,
    permissions: new Set(),
    settings: null,
    values: new Map(),
    ...given,
    roles: given.roles ?? new Set([defaultRole(scene)]),
    id,
    uuid: randomUUID(),
    aliases: [alias],
    createdAtMs: scene.nowMs,
    updatedAtMs: scene.nowMs,
  });
}

/** 403 when this is the last administrator who can still act (contract 3.3, row SCIM-46). */
function requireOtherAdmin(state: State, user: UserRecord): void {
  if (state.activeAdmins.has(user.id) && state.activeAdmins.size === 1) {
    throw new Problem(403, 'The last active administrator cannot be deactivated or deleted');
  }
}

/** Changes a person all at once; throws 409 `uniqueness` or 403 (last administrator) before anything is stored. */
export function changePerson(scene: Scene, user: UserRecord, change: PersonChange): UserRecord {
  const next: UserRecord = { ...user, ...change, updatedAtMs: scene.nowMs };
  if (next.userName !== user.userName) requireFreeName(scene.state, next.userName, user.id);
  if (next.isDeactivated || !next.isAdmin) requireOtherAdmin(scene.state, user);
  if (next.userName === user.userName) return store(scene.state, next);
  // The alias that this name came in by follows the rename, so that aliases keep pointing at the person (contract 2.7).
  const aliases = next.aliases.map((alias) =>
    alias.username === user.userName ? { ...alias, username: next.userName } : alias,
  );
  return store(scene.state, { ...next, aliases });
}

/** Deletes a person with memberships, values and grants, for good; throws 403 for the last administrator. */
export function removePerson(scene: Scene, user: UserRecord): void {
  requireOtherAdmin(scene.state, user);
  const { state } = scene;
  for (const groupId of [...state.memberships.groupsOf(user.id)]) state.memberships.remove(groupId, user.id);
  for (const grant of state.grants.find('user', String(user.id))) state.grants.remove(grant.id);
  state.activeAdmins.delete(user.id);
  state.users.remove(user.id);
  state.runs.userLeft(user.id);
  removeThreadsOf(state, ownerOfUser(user.id));
}
