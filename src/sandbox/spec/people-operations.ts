// The operations on console users, roles, groups and attributes (contract 3).
import { BOTH, CURSOR, type OperationLine } from './operation-text.ts';

export const PEOPLE_LINES: readonly OperationLine[] = [
  [
    'get /api/v1/users',
    'listUsers',
    'Find console users',
    { query: ['search', ...CURSOR], answer: 'UserList' },
  ],
  [
    'post /api/v1/users',
    'createUser',
    'Create a console user',
    { body: 'UserInput', answer: 'User', mayConflict: true },
  ],
  [
    'post /api/v1/users/bulk',
    'bulkUsers',
    'Deactivate, activate or delete many users',
    { body: 'BulkAction', answer: 'BulkResult' },
  ],
  ['get /api/v1/users/me', 'readMe', 'The caller', { answer: 'User' }],
  [
    'patch /api/v1/users/me/settings',
    'patchMySettings',
    'Change settings of the caller',
    { body: 'MySettings', answer: 'User' },
  ],
  ['put /api/v1/users/{id}', 'updateUser', 'Change a console user', { body: 'UserUpdate', answer: 'User' }],
  ['delete /api/v1/users/{id}', 'deleteUser', 'Delete a console user'],
  ['get /api/v1/roles', 'listRoles', 'Custom roles', { query: CURSOR, answer: 'RoleList' }],
  ['put /api/v1/roles/{roleId}/users/{userId}', 'assignRole', 'Give a role to a user', { status: 204 }],
  ['delete /api/v1/roles/{roleId}/users/{userId}', 'removeRole', 'Take a role from a user', { status: 204 }],
  [
    'get /api/v1/user-groups',
    'listUserGroups',
    'Groups with their sizes',
    { query: ['search', ...CURSOR], answer: 'UserGroupList' },
  ],
  ['delete /api/v1/groups/{id}', 'deleteGroup', 'Delete a group; its members stay', { status: 204 }],
  [
    'get /api/v1/user-attributes',
    'listUserAttributes',
    'Attribute definitions, newest first',
    { query: ['name', 'type', ...BOTH], answer: 'UserAttributeList' },
  ],
  [
    'post /api/v1/user-attributes',
    'createUserAttribute',
    'Define an attribute',
    { body: 'UserAttributeInput', answer: 'UserAttribute', mayConflict: true },
  ],
  [
    'put /api/v1/user-attributes/{id}',
    'updateUserAttribute',
    'Change label, description or default',
    { body: 'UserAttributeUpdate', answer: 'UserAttribute' },
  ],
  ['delete /api/v1/user-attributes/{id}', 'deleteUserAttribute', 'Delete a definition and all its values'],
  [
    'post /api/v1/user-attribute-values',
    'upsertUserAttributeValue',
    'Set or clear one value',
    { body: 'UserAttributeValueInput', answer: 'UserAttributeValue' },
  ],
  [
    'get /api/v1/user-attribute-values/{userId}',
    'listUserAttributeValues',
    'Values of one user',
    { answer: 'UserAttributeValues' },
  ],
];
