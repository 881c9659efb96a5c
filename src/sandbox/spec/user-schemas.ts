// Defines the schemas of SCIM (contract 2) and of the console API of users, roles, groups and attributes (contract 3).
import { EXTENSION_URN } from '../scim/urns.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import {
  each,
  anyObject,
  anything,
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
  type SpecSchema,
} from './parts.ts';

const cursorList = (items: SpecSchema): SpecSchema =>
  record(['items', 'pageInfo'], { items: listSchema(items), pageInfo: ref('PageInfo') });
const scimList = (resources: SpecSchema): SpecSchema =>
  record(['schemas', 'totalResults', 'startIndex', 'itemsPerPage', 'Resources'], {
    schemas: listSchema(textSchema),
    ...each(integer, 'totalResults', 'startIndex', 'itemsPerPage'),
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
/** Ids are text in a request, and numbers in the answer (ASSUMED-41). */
const valueInput = record(['userId', 'userAttributeId'], {
  userId: textSchema,
  userAttributeId: textSchema,
  value: anything,
});

export const PEOPLE_SCHEMAS: Readonly<Record<string, SpecSchema>> = {
  Error: record(['error'], { error: textSchema }),
  ScimError: record(['schemas', 'status', 'detail'], {
    schemas: listSchema(textSchema),
    ...each(textSchema, 'status', 'scimType', 'detail'),
  }),
  ScimUserInput: record(['userName'], {
    schemas: listSchema(textSchema),
    userName: textSchema,
    ...nullableTexts('externalId', 'displayName'),
    name: orNull(record([], nullableTexts('givenName', 'familyName'))),
    emails: listSchema(record(['value'], { value: textSchema, type: textSchema, primary: flagSchema })),
    active: flagSchema,
    [EXTENSION_URN]: anyObject,
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
    userIds: { type: 'array', items: integer, minItems: 1, maxItems: DEFAULT_SETTINGS.bulkLimit },
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
  UserAttributeValueInput: valueInput,
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
