// Handles the caller's own record and settings; any valid user may use them (contract 3.3, ASSUMED-08).
import { bodyOf, type Call, type HandlerReply } from '../call.ts';
import type { SandboxJsonObject } from '../json.ts';
import type { UserRecord } from '../records.ts';
import { changePerson } from './people.ts';
import { mergeUserSettings } from './user-settings.ts';
import { roleNames, toUserView } from './user-view.ts';

function policiesOf(user: UserRecord): SandboxJsonObject[] {
  const granted = [...user.permissions].map((action) => ({
    resourceType: 'Global',
    actions: [action],
    resources: ['*'],
  }));
  return user.isAdmin ? [{ resourceType: 'Global', actions: ['*'], resources: ['*'] }, ...granted] : granted;
}

/** Handles `GET /api/v1/users/me`: the caller with effective policies. */
export function readMe(call: Call): HandlerReply {
  const user = call.caller.user;
  return { status: 200, body: { ...toUserView(user), roles: roleNames(user), policies: policiesOf(user) } };
}

/**
 * Handles `PATCH /api/v1/users/me/settings`: 200 with the user after the settings are merged (user-settings.ts); 400.
 */
export function patchMySettings(call: Call): HandlerReply {
  const user = call.caller.user;
  const changed = changePerson(call, user, { settings: mergeUserSettings(user.settings, bodyOf(call)) });
  return { status: 200, body: toUserView(changed) };
}
