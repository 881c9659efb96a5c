// Describes SCIM (contract 2) and the console API of users, roles, groups and attributes (contract 3): operations and schemas.
import {
  anyObject,
  anything,
  BOTH,
  CURSOR,
  flagSchema,
  integer,
  listSchema,
  momentSchema,
  nullableTexts,
  oneOfWords,
  orNull,
  record,
  ref,
  textSchema,
  type OperationLine,
  type SpecSchema,
} from './parts.ts';

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

const cursorList = (items: SpecSchema): SpecSchema =>
  record(['items', 'pageInfo'], { items: listSchema(items), pageInfo: ref('PageInfo') });
const scimList = (resources: SpecSchema): SpecSchema =>
  record(['schemas', 'totalResults', 'startIndex', 'itemsPerPage', 'Resources'], {
    schemas: listSchema(textSchema),
    totalResults: integer,
    startIndex: integer,
    itemsPerPage: integer,
    Resources: listSchema(resources),
  });
const member = record(['value'], { value: textSchema, display: textSchema });
const meta = record(['resourceType'], {
  resourceType: textSchema,
  created: momentSchema,
  lastModified: momentSchema,
  location: textSchema,
});
const labels = nullableTexts('displayName', 'description', 'defaultValue');
const valueIds = record(['userId', 'userAttributeId'], {
  userId: textSchema,
  userAttributeId: textSchema,
  value: anything,
});

export const PEOPLE_SCHEMAS: Readonly<Record<string, SpecSchema>> = {
  Error: record(['error'], { error: textSchema }),
  ScimError: record(['schemas', 'status', 'detail'], {
    schemas: listSchema(textSchema),
    status: textSchema,
    scimType: textSchema,
    detail: textSchema,
  }),
  ScimUserInput: record(['userName'], {
    schemas: listSchema(textSchema),
    userName: textSchema,
    ...nullableTexts('externalId', 'displayName'),
    name: orNull(record([], nullableTexts('givenName', 'familyName'))),
    emails: listSchema(record(['value'], { value: textSchema, type: textSchema, primary: flagSchema })),
    active: flagSchema,
    'urn:cube:params:1.0:UserAttribute': anyObject,
  }),
  ScimUser: {
    allOf: [
      ref('ScimUserInput'),
      record(['id', 'schemas'], { id: textSchema, groups: listSchema(member), meta }),
    ],
  },
  ScimUserList: scimList(ref('ScimUser')),
  ScimGroupInput: record(['displayName'], {
    schemas: listSchema(textSchema),
    displayName: textSchema,
    externalId: orNull(textSchema),
    members: listSchema(member),
  }),
  ScimGroup: {
    allOf: [ref('ScimGroupInput'), record(['id', 'schemas'], { id: textSchema, meta })],
  },
  ScimGroupList: scimList(ref('ScimGroup')),
  ScimPatch: record(['schemas', 'Operations'], {
    schemas: listSchema(textSchema),
    Operations: listSchema(record(['op'], { op: textSchema, path: textSchema, value: anything })),
  }),
  UserInput: record(['email', 'username'], {
    email: textSchema,
    username: textSchema,
    ...nullableTexts('firstName', 'externalId', 'password'),
    isAdmin: orNull(flagSchema),
    defaultRoles: orNull(listSchema(textSchema)),
    settings: orNull(anyObject),
  }),
  UserUpdate: record([], {
    ...nullableTexts('firstName', 'title', 'password'),
    isAdmin: orNull(flagSchema),
    isDeactivated: orNull(flagSchema),
    settings: orNull(anyObject),
  }),
  User: record(['id', 'email', 'username', 'isAdmin', 'notifications'], {
    id: integer,
    email: textSchema,
    username: textSchema,
    isAdmin: flagSchema,
    isDeactivated: flagSchema,
    notifications: anyObject,
    ...nullableTexts('firstName', 'title', 'externalId', 'samlId'),
    defaultRoles: listSchema(textSchema),
    aliases: listSchema(
      record(['username', 'source'], {
        username: textSchema,
        source: oneOfWords('ldap', 'saml', 'scim', 'manual'),
      }),
    ),
    createdAt: momentSchema,
    updatedAt: momentSchema,
  }),
  UserList: cursorList(ref('User')),
  MySettings: anyObject,
  BulkAction: record(['action', 'userIds'], {
    action: oneOfWords('DEACTIVATE', 'ACTIVATE', 'DELETE'),
    userIds: { type: 'array', items: integer, minItems: 1, maxItems: 100 },
  }),
  BulkResult: record(['succeeded', 'failed'], {
    action: textSchema,
    succeeded: listSchema(integer),
    failed: listSchema(
      record(['userId', 'error'], {
        userId: integer,
        error: record(['status', 'message'], { status: integer, message: textSchema }),
      }),
    ),
  }),
  Role: record(['id', 'name'], {
    id: integer,
    name: textSchema,
    description: orNull(textSchema),
    policies: listSchema(anyObject),
  }),
  RoleList: cursorList(ref('Role')),
  UserGroup: record(['id', 'name', 'userCount'], { id: integer, name: textSchema, userCount: integer }),
  UserGroupList: cursorList(ref('UserGroup')),
  UserAttributeType: oneOfWords('string', 'number', 'boolean', 'string_array', 'number_array'),
  UserAttributeInput: record(['name', 'type'], {
    name: textSchema,
    type: ref('UserAttributeType'),
    ...labels,
  }),
  UserAttributeUpdate: record([], labels),
  UserAttribute: record(['id', 'name', 'type'], {
    id: integer,
    name: textSchema,
    type: ref('UserAttributeType'),
    ...labels,
  }),
  UserAttributeList: record(['items', 'pageInfo', 'data', 'count'], {
    items: listSchema(ref('UserAttribute')),
    pageInfo: ref('PageInfo'),
    data: listSchema(ref('UserAttribute')),
    count: integer,
  }),
  UserAttributeValueInput: valueIds,
  UserAttributeValue: record(['userId', 'userAttributeId', 'name', 'type'], {
    userId: integer,
    userAttributeId: integer,
    name: textSchema,
    type: ref('UserAttributeType'),
    ...nullableTexts('displayName', 'description'),
    value: anything,
    formattedValue: anything,
  }),
  UserAttributeValues: listSchema(ref('UserAttributeValue')),
};
