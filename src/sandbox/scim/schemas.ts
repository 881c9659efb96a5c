// Builds the schema documents; the extension lists the tenant's text and number attributes (contract 2.4).
import type { SandboxJsonObject } from '../json.ts';
import type { State } from '../state.ts';
import { EXTENSION_URN, SCIM_GROUP_URN, SCIM_USER_URN } from './urns.ts';

const SCHEMA_URN = 'urn:ietf:params:scim:schemas:core:2.0:Schema';

/** Returns the schema of one attribute (RFC 7643 §7); `more` replaces the defaults below. */
function attribute(name: string, type: string, more: SandboxJsonObject = {}): SandboxJsonObject {
  return {
    name,
    type,
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...more,
  };
}

const USER_ATTRIBUTES: readonly SandboxJsonObject[] = [
  attribute('userName', 'string', { required: true, uniqueness: 'server' }),
  attribute('displayName', 'string'),
  attribute('name', 'complex', {
    subAttributes: [attribute('givenName', 'string'), attribute('familyName', 'string')],
  }),
  attribute('emails', 'complex', {
    multiValued: true,
    subAttributes: [
      attribute('value', 'string'),
      attribute('type', 'string'),
      attribute('primary', 'boolean'),
    ],
  }),
  attribute('active', 'boolean'),
  attribute('groups', 'complex', {
    multiValued: true,
    mutability: 'readOnly',
    subAttributes: [attribute('value', 'string'), attribute('display', 'string')],
  }),
];

const GROUP_ATTRIBUTES: readonly SandboxJsonObject[] = [
  attribute('displayName', 'string', { required: true, uniqueness: 'server' }),
  attribute('members', 'complex', {
    multiValued: true,
    subAttributes: [attribute('value', 'string'), attribute('display', 'string')],
  }),
];

function extensionAttributes(state: State): SandboxJsonObject[] {
  return state.attributes.rows().flatMap(({ name, type }) => {
    if (type !== 'string' && type !== 'number') return [];
    return [attribute(name, type === 'number' ? 'decimal' : 'string', { caseExact: true })];
  });
}

/** Returns the current User, Group and extension schemas; `baseUrl` is the platform's address. */
export function sandboxSchemaDocuments(state: State, baseUrl: string): SandboxJsonObject[] {
  const toSchema = (
    id: string,
    name: string,
    attributes: readonly SandboxJsonObject[],
  ): SandboxJsonObject => ({
    schemas: [SCHEMA_URN],
    id,
    name,
    description: name,
    attributes,
    meta: { resourceType: 'Schema', location: `${baseUrl}/api/scim/v2/Schemas/${id}` },
  });
  return [
    toSchema(SCIM_USER_URN, 'User', USER_ATTRIBUTES),
    toSchema(SCIM_GROUP_URN, 'Group', GROUP_ATTRIBUTES),
    toSchema(EXTENSION_URN, 'UserAttribute', extensionAttributes(state)),
  ];
}
