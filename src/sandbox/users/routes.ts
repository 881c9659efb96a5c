// Routes console users, roles, groups and attributes under `/api/v1`.
import { Router } from 'express';
import { answer, type Handler } from '../call.ts';
import type { MountedRouter } from '../family.ts';
import type { SandboxRuntime } from '../runtime.ts';
import { createAccount, listAccounts, removeAccount, updateAccount } from './accounts.ts';
import { listValues, upsertValue } from './attribute-values.ts';
import { createAttribute, deleteAttribute, listAttributes, updateAttribute } from './attributes.ts';
import { bulkAction } from './bulk.ts';
import { patchMySettings, readMe } from './me.ts';
import { assignRole, deleteUserGroup, listRoles, listUserGroups, removeRole } from './roles.ts';

/** Builds the routes of contract 3.1 to 3.3 and 3.5. */
export function createUsersRoutes(runtime: SandboxRuntime): MountedRouter {
  const router = Router({ caseSensitive: true });
  const at = (handler: Handler) => answer(runtime, handler);

  router.get('/users', at(listAccounts));
  router.post('/users', at(createAccount));
  router.post('/users/bulk', at(bulkAction));
  router.get('/users/me', at(readMe));
  router.patch('/users/me/settings', at(patchMySettings));
  router.put('/users/:id', at(updateAccount));
  router.delete('/users/:id', at(removeAccount));

  router.get('/roles', at(listRoles));
  router.put('/roles/:roleId/users/:userId', at(assignRole));
  router.delete('/roles/:roleId/users/:userId', at(removeRole));
  router.get('/user-groups', at(listUserGroups));
  router.delete('/groups/:id', at(deleteUserGroup));

  router.get('/user-attributes', at(listAttributes));
  router.post('/user-attributes', at(createAttribute));
  router.put('/user-attributes/:id', at(updateAttribute));
  router.delete('/user-attributes/:id', at(deleteAttribute));
  router.post('/user-attribute-values', at(upsertValue));
  router.get('/user-attribute-values/:userId', at(listValues));
  return { mount: '/api/v1', router };
}
