// The operations of SCIM (contract 2.1).
import type { OperationLine } from './operation-text.ts';

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
