// Handles the caller's own record and settings; any valid user may use them (contract 3.3, ASSUMED-08).
import { bodyOf, type Call, type HandlerReply } from '../call.ts';
import { policiesOfRoles } from '../control-plane/reach.ts';
import { isJsonObject, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import type { UserRecord } from '../records.ts';
import { changePerson } from './people.ts';
import { roleNames, toUserView } from './user-view.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
/** Settings of a user, each with the check of its value. */
const SETTINGS = new Map<string, (value: unknown) => boolean>([
  ['theme', isText],
  ['locale', isText],
  ['timezone', isText],
  ['defaultDeploymentId', Number.isInteger],
  ['alternatingRowColors', (value) => typeof value === 'boolean'],
  ['sheets', isJsonObject],
]);

/**
 * Returns the present settings with a patch: objects merge by property, null clears, unknown settings are
 * ignored (ASSUMED-109). @throws 400 for a value of another type
 */
export function mergeUserSettings(
  present: SandboxJsonObject | null,
  patch: SandboxJsonObject,
): SandboxJsonObject {
  const merged = new Map(Object.entries(present ?? {}));
  for (const [name, value] of Object.entries(patch)) {
    const fits = SETTINGS.get(name);
    if (!fits) continue;
    if (value !== null && !fits(value)) throw new SandboxProblem(400, `${name} cannot take this value`);
    const before = merged.get(name);
    merged.set(name, isJsonObject(value) && isJsonObject(before) ? { ...before, ...value } : value);
  }
  return Object.fromEntries(merged);
}

/** Returns the user's policies: `*` for an administrator, one for each permission in the whole tenant, and those of the roles. */
function policiesOf(call: Call, user: UserRecord): SandboxJsonObject[] {
  const actions = [...(user.isAdmin ? ['*'] : []), ...user.permissions];
  const granted = actions.map((action) => ({ resourceType: 'Global', actions: [action], resources: ['*'] }));
  return [...granted, ...policiesOfRoles(call, user)];
}

/** Handles `GET /api/v1/users/me`: the caller with roles and policies (policiesOf). */
export function readMe(call: Call): HandlerReply {
  const user = call.caller.user;
  return {
    status: 200,
    body: { ...toUserView(user), roles: roleNames(user), policies: policiesOf(call, user) },
  };
}

/** Handles `PATCH /api/v1/users/me/settings`: 200 with the user after the settings are merged; 400. */
export function patchMySettings(call: Call): HandlerReply {
  const user = call.caller.user;
  const changed = changePerson(call, user, { settings: mergeUserSettings(user.settings, bodyOf(call)) });
  return { status: 200, body: toUserView(changed) };
}
