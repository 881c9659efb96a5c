// Routes console users, roles, groups and attributes under `/api/v1`.
import type { Route } from '../routes.ts';
import { createAccount, listAccounts, removeAccount, updateAccount } from './accounts.ts';
import { listValues, upsertValue } from './attribute-values.ts';
import { createAttribute, deleteAttribute, listAttributes, updateAttribute } from './attributes.ts';
import { bulkAction } from './bulk.ts';
import { patchMySettings, readMe } from './me.ts';
import { assignRole, deleteUserGroup, listRoles, listUserGroups, removeRole } from './roles.ts';

/** Routes of contract 3.1 to 3.3 and 3.5. */
export const USER_ROUTES: readonly Route[] = [
  ['get', '/users', listAccounts],
  ['post', '/users', createAccount],
  ['post', '/users/bulk', bulkAction],
  ['get', '/users/me', readMe],
  ['patch', '/users/me/settings', patchMySettings],
  ['put', '/users/:id', updateAccount],
  ['delete', '/users/:id', removeAccount],

  ['get', '/roles', listRoles],
  ['put', '/roles/:roleId/users/:userId', assignRole],
  ['delete', '/roles/:roleId/users/:userId', removeRole],
  ['get', '/user-groups', listUserGroups],
  ['delete', '/groups/:id', deleteUserGroup],

  ['get', '/user-attributes', listAttributes],
  ['post', '/user-attributes', createAttribute],
  ['put', '/user-attributes/:id', updateAttribute],
  ['delete', '/user-attributes/:id', deleteAttribute],
  ['post', '/user-attribute-values', upsertValue],
  ['get', '/user-attribute-values/:userId', listValues],
];
