// Builds the console user record of an answer (contract 3.3).
import type { UserRecord } from '../records.ts';
import { isoTime } from '../../support/sources.ts';

/** Returns role names as the platform shows them, Admin first. */
export function roleNames(user: UserRecord): string[] {
  return [...(user.isAdmin ? ['Admin'] : []), ...user.roles];
}

/** Returns one console user as `/api/v1/users` shows it; features that the sandbox does not have are null or empty. */
export function toUserView(user: UserRecord): Record<string, unknown> {
  return {
    id: user.id,
    email: user.email,
    username: user.userName,
    firstName: user.firstName,
    title: user.title,
    picture: null,
    externalId: user.externalId,
    samlId: null,
    isAdmin: user.isAdmin,
    isDeactivated: user.isDeactivated,
    defaultRoles: roleNames(user),
    activeRoleId: null,
    aliases: user.aliases.map((alias) => ({
      id: alias.id,
      userId: user.id,
      username: alias.username,
      source: alias.source,
      createdAt: isoTime(alias.createdAtMs),
      updatedAt: isoTime(user.updatedAtMs),
    })),
    notifications: {},
    settings: user.settings,
    lastLogin: null,
    createdAt: isoTime(user.createdAtMs),
    updatedAt: isoTime(user.updatedAtMs),
  };
}
