// Records of users, groups and attributes, SCIM and console side (contract 2 and 3).
import {
  anything,
  anyObject,
  flag,
  integer,
  listOf,
  moment,
  nullableTexts,
  oneOfWords,
  orNull,
  record,
  ref,
  text,
  type Schema,
} from './schema-words.ts';

const cursorList = (items: Schema): Schema =>
  record(['items', 'pageInfo'], { items: listOf(items), pageInfo: ref('PageInfo') });
const scimList = (resources: Schema): Schema =>
  record(['schemas', 'totalResults', 'startIndex', 'itemsPerPage', 'Resources'], {
    schemas: listOf(text),
    totalResults: integer,
    startIndex: integer,
    itemsPerPage: integer,
    Resources: listOf(resources),
  });
const member = record(['value'], { value: text, display: text });
const meta = record(['resourceType'], {
  resourceType: text,
  created: moment,
  lastModified: moment,
  location: text,
});
const labels = nullableTexts('displayName', 'description', 'defaultValue');
const valueIds = record(['userId', 'userAttributeId'], {
  userId: text,
  userAttributeId: text,
  value: anything,
});

export const PEOPLE_SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: record(['error'], { error: text }),
  ScimError: record(['schemas', 'status', 'detail'], {
    schemas: listOf(text),
    status: text,
    scimType: text,
    detail: text,
  }),
  ScimUserInput: record(['userName'], {
    schemas: listOf(text),
    userName: text,
    ...nullableTexts('externalId', 'displayName'),
    name: orNull(record([], nullableTexts('givenName', 'familyName'))),
    emails: listOf(record(['value'], { value: text, type: text, primary: flag })),
    active: flag,
    'urn:cube:params:1.0:UserAttribute': anyObject,
  }),
  ScimUser: {
    allOf: [ref('ScimUserInput'), record(['id', 'schemas'], { id: text, groups: listOf(member), meta })],
  },
  ScimUserList: scimList(ref('ScimUser')),
  ScimGroupInput: record(['displayName'], {
    schemas: listOf(text),
    displayName: text,
    externalId: orNull(text),
    members: listOf(member),
  }),
  ScimGroup: {
    allOf: [ref('ScimGroupInput'), record(['id', 'schemas'], { id: text, meta })],
  },
  ScimGroupList: scimList(ref('ScimGroup')),
  ScimPatch: record(['schemas', 'Operations'], {
    schemas: listOf(text),
    Operations: listOf(record(['op'], { op: text, path: text, value: anything })),
  }),
  UserInput: record(['email', 'username'], {
    email: text,
    username: text,
    ...nullableTexts('firstName', 'externalId', 'password'),
    isAdmin: orNull(flag),
    defaultRoles: orNull(listOf(text)),
    settings: orNull(anyObject),
  }),
  UserUpdate: record([], {
    ...nullableTexts('firstName', 'title', 'password'),
    isAdmin: orNull(flag),
    isDeactivated: orNull(flag),
    settings: orNull(anyObject),
  }),
  User: record(['id', 'email', 'username', 'isAdmin', 'notifications'], {
    id: integer,
    email: text,
    username: text,
    isAdmin: flag,
    isDeactivated: flag,
    notifications: anyObject,
    ...nullableTexts('firstName', 'title', 'externalId', 'samlId'),
    defaultRoles: listOf(text),
    aliases: listOf(
      record(['username', 'source'], {
        username: text,
        source: oneOfWords('ldap', 'saml', 'scim', 'manual'),
      }),
    ),
    createdAt: moment,
    updatedAt: moment,
  }),
  UserList: cursorList(ref('User')),
  MySettings: anyObject,
  BulkAction: record(['action', 'userIds'], {
    action: oneOfWords('DEACTIVATE', 'ACTIVATE', 'DELETE'),
    userIds: { type: 'array', items: integer, minItems: 1, maxItems: 100 },
  }),
  BulkResult: record(['succeeded', 'failed'], {
    action: text,
    succeeded: listOf(integer),
    failed: listOf(
      record(['userId', 'error'], {
        userId: integer,
        error: record(['status', 'message'], { status: integer, message: text }),
      }),
    ),
  }),
  Role: record(['id', 'name'], {
    id: integer,
    name: text,
    description: orNull(text),
    policies: listOf(anyObject),
  }),
  RoleList: cursorList(ref('Role')),
  UserGroup: record(['id', 'name', 'userCount'], { id: integer, name: text, userCount: integer }),
  UserGroupList: cursorList(ref('UserGroup')),
  UserAttributeType: oneOfWords('string', 'number', 'boolean', 'string_array', 'number_array'),
  UserAttributeInput: record(['name', 'type'], { name: text, type: ref('UserAttributeType'), ...labels }),
  UserAttributeUpdate: record([], labels),
  UserAttribute: record(['id', 'name', 'type'], {
    id: integer,
    name: text,
    type: ref('UserAttributeType'),
    ...labels,
  }),
  UserAttributeList: record(['items', 'pageInfo', 'data', 'count'], {
    items: listOf(ref('UserAttribute')),
    pageInfo: ref('PageInfo'),
    data: listOf(ref('UserAttribute')),
    count: integer,
  }),
  UserAttributeValueInput: valueIds,
  UserAttributeValue: record(['userId', 'userAttributeId', 'name', 'type'], {
    userId: integer,
    userAttributeId: integer,
    name: text,
    type: ref('UserAttributeType'),
    ...nullableTexts('displayName', 'description'),
    value: anything,
    formattedValue: anything,
  }),
  UserAttributeValues: listOf(ref('UserAttributeValue')),
};
