// Creates, changes and deletes users, for SCIM, the console users API and fixtures.
import { randomUUID } from 'node:crypto';
import { ownerOfUser, removeThreadsOf } from '../chat/threads.ts';
import { SandboxProblem } from '../problem.ts';
import type { Alias, UserRecord } from '../records.ts';
import { FALLBACK_ROLE, type SandboxSettings } from '../settings.ts';
import type { CurrentState, State } from '../state.ts';

/** Properties that are set when a user is stored. */
type Derived = 'id' | 'uuid' | 'searchText' | 'createdAtMs' | 'updatedAtMs';
/** A user to create; `aliasSource` is the source of the alias that the user gets. */
export type NewPerson = Partial<Omit<UserRecord, Derived | 'aliases'>> & {
  userName: string;
  aliasSource: Alias['source'];
};
export type PersonChange = Partial<Omit<UserRecord, Derived>>;

/** Returns the tenant's default role for new users; a deleted role or Admin falls back to Viewer (contract 2.2). */
function defaultRole(current: CurrentState): string {
  const [role] = current.state.roles.find('name', current.settings.defaultRole.toLowerCase());
  return role && role.name !== 'Admin' ? role.name : FALLBACK_ROLE;
}

/** Returns the SCIM id of a user or group in the configured style (ASSUMED-48). */
export function scimIdOf(
  settings: SandboxSettings,
  record: { readonly id: number; readonly uuid: string },
): string {
  return settings.scimIdStyle === 'numeric' ? String(record.id) : record.uuid;
}

/**
 * Returns the e-mail that SCIM data implies: the primary or first entry, else a userName in the form of an
 * address, else '' (ASSUMED-13).
 */
export function impliedEmail(userName: string, emails: UserRecord['emails']): string {
  const chosen = emails.find((entry) => entry.primary) ?? emails[0];
  return chosen?.value ?? (/^[^\s@]+@[^\s@]+$/.test(userName) ? userName : '');
}

/** Returns the first name that SCIM data implies: displayName, else the name parts (ASSUMED-12). */
export function impliedFirstName(
  person: Pick<UserRecord, 'displayName' | 'givenName' | 'familyName'>,
): string | null {
  const parts = [person.givenName, person.familyName].filter((part) => part !== null && part !== '');
  return person.displayName ?? (parts.length > 0 ? parts.join(' ') : null);
}

/** Throws 409 when a user other than `ownId` has the userName, in any letter case. */
function requireFreeName(state: State, userName: string, ownId?: number): void {
  const [holder] = state.users.find('userName', userName.toLowerCase());
  if (holder && holder.id !== ownId) throw new SandboxProblem(409, 'userName is already taken', 'uniqueness');
}

/** Stores a user with search text, updates the active administrators, and stops chat answers of a deactivated user. */
function store(state: State, person: Omit<UserRecord, 'searchText'>): UserRecord {
  const searchText = [person.firstName ?? '', person.userName, person.email].join('\n').toLowerCase();
  const user: UserRecord = { ...person, searchText };
  state.users.put(user);
  if (user.isAdmin && !user.isDeactivated) state.activeAdmins.add(user.id);
  else state.activeAdmins.delete(user.id);
  if (user.isDeactivated) state.runs.userLeft(user.id);
  return user;
}

/** Creates a user; without `roles` the user gets the default role. Throws 409 `uniqueness`. */
export function createPerson(current: CurrentState, person: NewPerson): UserRecord {
  const { aliasSource, ...given } = person;
  requireFreeName(current.state, given.userName);
  const id = current.state.users.nextId();
  // A user has only one alias, so the id of the user serves as id of the alias.
  const alias: Alias = { id, username: given.userName, source: aliasSource, createdAtMs: current.nowMs };
  return store(current.state, {
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
    roles: given.roles ?? new Set([defaultRole(current)]),
    id,
    uuid: randomUUID(),
    aliases: [alias],
    createdAtMs: current.nowMs,
    updatedAtMs: current.nowMs,
  });
}

/** Throws 403 when the user is the last active administrator (contract 3.3, row SCIM-46 of docs/platform-coverage.md). */
function requireOtherAdmin(state: State, user: UserRecord): void {
  if (state.activeAdmins.has(user.id) && state.activeAdmins.size === 1) {
    throw new SandboxProblem(403, 'The last active administrator cannot be deactivated or deleted');
  }
}

/**
 * Applies all changes to a user together; throws 409 `uniqueness` or 403 (last administrator) before anything is
 * stored.
 */
export function changePerson(current: CurrentState, user: UserRecord, change: PersonChange): UserRecord {
  const next: UserRecord = { ...user, ...change, updatedAtMs: current.nowMs };
  if (next.userName !== user.userName) requireFreeName(current.state, next.userName, user.id);
  if (next.isDeactivated || !next.isAdmin) requireOtherAdmin(current.state, user);
  if (next.userName === user.userName) return store(current.state, next);
  // An alias with the former userName follows the rename, so that it still identifies the user (contract 2.7).
  const aliases = next.aliases.map((alias) =>
    alias.username === user.userName ? { ...alias, username: next.userName } : alias,
  );
  return store(current.state, { ...next, aliases });
}

/** Deletes a user with memberships, values, grants and chat threads; throws 403 for the last administrator. */
export function removePerson(current: CurrentState, user: UserRecord): void {
  requireOtherAdmin(current.state, user);
  const { state } = current;
  for (const groupId of [...state.memberships.groupsOf(user.id)]) state.memberships.remove(groupId, user.id);
  for (const grant of state.grants.find('user', String(user.id))) state.grants.remove(grant.id);
  state.activeAdmins.delete(user.id);
  state.users.remove(user.id);
  state.runs.userLeft(user.id);
  removeThreadsOf(state, ownerOfUser(user.id));
}
