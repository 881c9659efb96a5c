// Lists the operations of SCIM (contract 2) and of the console API of users, roles, groups and attributes (contract 3).
import { OFFSET_AND_CURSOR, CURSOR, type OperationLine } from './parts.ts';

const SCIM = '/api/scim/v2';
const SCIM_LIST = ['filter', 'startIndex', 'count', 'excludedAttributes'];

export const SCIM_LINES: readonly OperationLine[] = [
  [`get ${SCIM}/Users`, 'listScimUsers', 'Find users', { query: SCIM_LIST, answer: 'ScimUserList' }],
  [
    `post ${SCIM}/Users`,
    'createScimUser',
    'Create a user',
    { body: 'ScimUserInput', answer: 'ScimUser', status: 201, mayConflict: true },
  ],
  [
    `get ${SCIM}/Users/{id}`,
    'readScimUser',
    'Read a user',
    { query: ['excludedAttributes'], answer: 'ScimUser' },
  ],
  [
    `put ${SCIM}/Users/{id}`,
    'replaceScimUser',
    'Replace a user',
    { body: 'ScimUserInput', answer: 'ScimUser', mayConflict: true },
  ],
  [
    `patch ${SCIM}/Users/{id}`,
    'patchScimUser',
    'Change a user',
    { body: 'ScimPatch', answer: 'ScimUser', mayConflict: true },
  ],
  [`delete ${SCIM}/Users/{id}`, 'deleteScimUser', 'Delete a user for good', { status: 204 }],
  [`get ${SCIM}/Groups`, 'listScimGroups', 'Find groups', { query: SCIM_LIST, answer: 'ScimGroupList' }],
  [
    `post ${SCIM}/Groups`,
    'createScimGroup',
    'Create a group',
    { body: 'ScimGroupInput', answer: 'ScimGroup', status: 201, mayConflict: true },
  ],
  [
    `get ${SCIM}/Groups/{id}`,
    'readScimGroup',
    'Read a group',
    { query: ['excludedAttributes'], answer: 'ScimGroup' },
  ],
  [
    `put ${SCIM}/Groups/{id}`,
    'replaceScimGroup',
    'Replace a group and its members',
    { body: 'ScimGroupInput', answer: 'ScimGroup', mayConflict: true },
  ],
  [
    `patch ${SCIM}/Groups/{id}`,
    'patchScimGroup',
    'Change a group or its members',
    { body: 'ScimPatch', answer: 'ScimGroup', mayConflict: true },
  ],
  [`delete ${SCIM}/Groups/{id}`, 'deleteScimGroup', 'Delete a group; its members stay', { status: 204 }],
  [`get ${SCIM}/ServiceProviderConfig`, 'readServiceProviderConfig', 'What this service provider supports'],
  [`get ${SCIM}/ResourceTypes`, 'listResourceTypes', 'Kinds of resources'],
  [`get ${SCIM}/ResourceTypes/{id}`, 'readResourceType', 'One kind of resource'],
  [`get ${SCIM}/Schemas`, 'listSchemas', 'Schemas of the resources'],
  [`get ${SCIM}/Schemas/{id}`, 'readSchema', 'One schema'],
];

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
    { query: ['name', 'type', ...OFFSET_AND_CURSOR], answer: 'UserAttributeList' },
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
