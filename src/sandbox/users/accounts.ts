// Handles console users: list, create, update, delete (contract 3.3).
import { requireAdmin } from '../auth.ts';
import { audit, bodyOf, pathNumber, queryText, type Call, type HandlerReply } from '../call.ts';
import {
  isJsonObject,
  optionalBoolean,
  textOrNull,
  optionalTexts,
  own,
  requireText,
  type SandboxJsonObject,
} from '../json.ts';
import { cursorPage } from '../paging.ts';
import { SandboxProblem } from '../problem.ts';
import type { UserRecord } from '../records.ts';
import { searchKey, type CurrentState } from '../state.ts';
import { changePerson, createPerson, removePerson, type PersonChange } from './people.ts';
import { mergeUserSettings } from './me.ts';
import { toUserView } from './user-view.ts';

/** Returns the user with this platform id. @throws 404 */
export function requireUser(current: CurrentState, id: number): UserRecord {
  const user = current.state.users.get(id);
  if (!user) throw new SandboxProblem(404, 'User not found');
  return user;
}

/** Handles `GET /api/v1/users`: cursor list, newest last; `search` is a substring of first name, username or e-mail. */
export function listAccounts(call: Call): HandlerReply {
  requireAdmin(call.caller);
  const { users } = call.read;
  const wanted = queryText(call, 'search')?.toLowerCase() ?? '';
  // The bridge looks up every user by address. If each look-up scanned all users, the total time would grow with their square.
  const key = searchKey(wanted);
  const candidates = key === undefined ? users.rows() : users.find('search', key);
  const matches = candidates.filter((user) => user.searchText.includes(wanted));
  return { status: 200, body: cursorPage(call, 'user', matches, toUserView) };
}

/** Returns the settings of the body, checked as those of `PATCH /me/settings`; null without settings. */
function settingsOf(body: SandboxJsonObject): SandboxJsonObject | null {
  const value = own(body, 'settings');
  if (value === undefined || value === null) return null;
  if (!isJsonObject(value)) throw new SandboxProblem(400, 'settings must be an object');
  return mergeUserSettings(null, value);
}

/** Returns the names in the tenant's spelling; undefined without names. @throws 400, also for Admin, which `isAdmin` sets */
function rolesOf(
  current: CurrentState,
  names: readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (names === undefined) return undefined;
  return new Set(
    names.map((name) => {
      const [role] = current.state.roles.find('name', name.toLowerCase());
      if (!role || role.name === 'Admin') throw new SandboxProblem(400, `defaultRoles: unknown role ${name}`);
      return role.name;
    }),
  );
}

/** Handles `POST /api/v1/users`: 200 with the user; 400, 409 (ASSUMED-47). */
export function createAccount(call: Call): HandlerReply {
  const body = bodyOf(call);
  const person = {
    email: requireText(body, 'email'),
    userName: requireText(body, 'username'),
    firstName: textOrNull(body, 'firstName'),
    externalId: textOrNull(body, 'externalId'),
    isAdmin: optionalBoolean(body, 'isAdmin') ?? false,
    settings: settingsOf(body),
  };
  const roles = rolesOf(call, optionalTexts(body, 'defaultRoles'));
  requireAdmin(call.caller);
  const user = createPerson(call, {
    ...person,
    displayName: person.firstName,
    aliasSource: 'manual',
    ...(roles ? { roles } : {}),
  });
  audit(call, 'Created user', { username: user.userName, userId: user.id });
  return { status: 200, body: toUserView(user) };
}

/** Returns the changes of a body; a property that the body lacks is absent. `firstName` sets the SCIM displayName too. */
function changeOf(body: SandboxJsonObject): PersonChange {
  const isAdmin = optionalBoolean(body, 'isAdmin');
  const isDeactivated = optionalBoolean(body, 'isDeactivated');
  // Only checked: the sandbox stores no passwords.
  textOrNull(body, 'password');
  return {
    ...(Object.hasOwn(body, 'firstName')
      ? { firstName: textOrNull(body, 'firstName'), displayName: textOrNull(body, 'firstName') }
      : {}),
    ...(Object.hasOwn(body, 'title') ? { title: textOrNull(body, 'title') } : {}),
    ...(Object.hasOwn(body, 'settings') ? { settings: settingsOf(body) } : {}),
    ...(isAdmin === undefined ? {} : { isAdmin }),
    ...(isDeactivated === undefined ? {} : { isDeactivated }),
  };
}

/** Handles `PUT /api/v1/users/{id}`: absent properties stay; 400, 403 (own account, last administrator), 404. */
export function updateAccount(call: Call): HandlerReply {
  const id = pathNumber(call, 'id');
  const change = changeOf(bodyOf(call));
  const user = requireUser(call, id);
  requireAdmin(call.caller);
  refuseOwnDeactivation(call, user, change.isDeactivated ?? false);
  const changed = changePerson(call, user, change);
  audit(call, 'Updated user profile', { username: changed.userName, userId: id });
  return { status: 200, body: toUserView(changed) };
}

/** Throws 403 when callers deactivate their own account (row USER-05 of docs/platform-coverage.md). */
export function refuseOwnDeactivation(call: Call, user: UserRecord, isDeactivated: boolean): void {
  if (isDeactivated && user.id === call.caller.user.id) {
    throw new SandboxProblem(403, 'Your own account cannot be deactivated');
  }
}

/** Deletes an account. @throws 400 for the caller's own account, 403 for the last administrator */
export function deleteAccount(call: Call, user: UserRecord): void {
  if (user.id === call.caller.user.id) throw new SandboxProblem(400, 'Your own account cannot be deleted');
  removePerson(call, user);
  audit(call, 'Deleted user', { username: user.userName, userId: user.id });
}

/** Handles `DELETE /api/v1/users/{id}`: 200; 400, 403, 404. */
export function removeAccount(call: Call): HandlerReply {
  const user = requireUser(call, pathNumber(call, 'id'));
  requireAdmin(call.caller);
  deleteAccount(call, user);
  return { status: 200, body: {} };
}
