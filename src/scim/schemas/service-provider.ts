// Defines the schemas of the discovery documents (RFC 7643 §8.7.2; pagination: RFC 9865 §4; securityEvents: RFC 9967 §4).
import { attribute, type Attribute, type Schema } from '../attributes.ts';
import { RESOURCE_TYPE_URN, SCHEMA_URN, SERVICE_PROVIDER_CONFIG_URN } from '../urns.ts';

type Characteristics = Parameters<typeof attribute>[2];

/** Creates a read-only attribute. */
const shown = (name: string, description: string, characteristics: Characteristics = {}): Attribute =>
  attribute(name, description, { mutability: 'readOnly', ...characteristics });

/** Creates a required complex attribute. */
const complex = (name: string, description: string, ...subAttributes: Attribute[]): Attribute =>
  shown(name, description, { type: 'complex', required: true, subAttributes });

/** Characteristics of a required text whose case matters when it is compared. */
const required = { required: true, caseExact: true } as const;
/** Creates a required boolean attribute. */
const flag = (name: string, description: string): Attribute =>
  shown(name, description, { type: 'boolean', required: true });
const supported = flag('supported', 'Whether the operation is supported.');
/** Creates a required integer attribute. */
const number = (name: string, description: string): Attribute =>
  shown(name, description, { type: 'integer', required: true });
/** Creates an attribute with a URI. @param referenceTypes what the URI leads to (RFC 7643 §7) */
const address = (
  name: string,
  description: string,
  referenceTypes: string[],
  characteristics: Characteristics = {},
): Attribute =>
  shown(name, description, { type: 'reference', caseExact: true, referenceTypes, ...characteristics });

const serviceProviderConfigSchema: Schema = {
  id: SERVICE_PROVIDER_CONFIG_URN,
  name: 'ServiceProviderConfig',
  description: 'What this service provider supports',
  attributes: [
    address('documentationUri', 'Address of the documentation.', ['external']),
    complex('patch', 'Changes by PATCH.', supported),
    complex(
      'bulk',
      'Many operations in one request.',
      supported,
      number('maxOperations', 'Most operations in one request.'),
      number('maxPayloadSize', 'Largest request in bytes.'),
    ),
    complex('filter', 'Filters.', supported, number('maxResults', 'Most resources in one answer.')),
    complex('changePassword', 'Changes of passwords.', supported),
    complex('sort', 'Sorting.', supported),
    complex('etag', 'Versions of resources.', supported),
    shown('pagination', 'How results are divided into pages.', {
      type: 'complex',
      subAttributes: [
        flag('cursor', 'Whether pages can be asked for by cursor.'),
        flag('index', 'Whether pages can be asked for by startIndex.'),
        shown('defaultPaginationMethod', 'Method used when the request names neither.', {
          canonicalValues: ['cursor', 'index'],
        }),
        shown('defaultPageSize', 'Page size without count.', { type: 'integer' }),
        shown('maxPageSize', 'Largest page size.', { type: 'integer' }),
        shown('cursorTimeout', 'Seconds for which a cursor is valid at least.', { type: 'integer' }),
      ],
    }),
    shown('securityEvents', 'Security events about changes of resources.', {
      type: 'complex',
      subAttributes: [
        shown('asyncRequest', 'Whether an event can report the result of a request later.', {
          canonicalValues: ['none', 'long', 'request'],
        }),
        shown('eventUris', 'URIs of the events that receivers get.', { multiValued: true, caseExact: true }),
      ],
    }),
    shown('authenticationSchemes', 'Ways to authenticate.', {
      type: 'complex',
      multiValued: true,
      required: true,
      subAttributes: [
        shown('type', 'Kind of the scheme.', {
          ...required,
          canonicalValues: ['oauth', 'oauth2', 'oauthbearertoken', 'httpbasic', 'httpdigest'],
        }),
        shown('name', 'Name of the scheme.', required),
        shown('description', 'What the scheme is.', required),
        address('specUri', 'Address of its specification.', ['external']),
        address('documentationUri', 'Address of its documentation.', ['external']),
        shown('primary', 'Whether this scheme is preferred.', { type: 'boolean' }),
      ],
    }),
  ],
};

const resourceTypeSchema: Schema = {
  id: RESOURCE_TYPE_URN,
  name: 'ResourceType',
  description: 'Kind of resources that this service provider keeps',
  attributes: [
    shown('id', 'Identifier of the resource type.', { caseExact: true }),
    shown('name', 'Name of the resource type.', required),
    shown('description', 'What the resource type is.'),
    address('endpoint', 'Address of its resources, relative to the root.', ['uri'], required),
    address('schema', 'Its core schema.', ['uri'], required),
    shown('schemaExtensions', 'Schemas that extend it.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        address('schema', 'The extension.', ['uri'], required),
        flag('required', 'Whether every resource has it.'),
      ],
    }),
  ],
};

/** The attributes that define an attribute. A complex attribute has them again for each of its sub-attributes. */
const characteristics: readonly Attribute[] = [
  shown('name', 'Name of the attribute.', required),
  shown('type', 'Data type.', {
    ...required,
    canonicalValues: [
      'string',
      'complex',
      'boolean',
      'decimal',
      'integer',
      'dateTime',
      'reference',
      'binary',
    ],
  }),
  flag('multiValued', 'Whether it has several values.'),
  shown('description', 'What the attribute is.', { caseExact: true }),
  flag('required', 'Whether it must have a value.'),
  shown('canonicalValues', 'Usual values.', { multiValued: true, caseExact: true }),
  shown('caseExact', 'Whether case matters when it is compared.', { type: 'boolean' }),
  shown('mutability', 'Who may write it, and when.', {
    caseExact: true,
    canonicalValues: ['readOnly', 'readWrite', 'immutable', 'writeOnly'],
  }),
  shown('returned', 'When an answer shows it.', {
    caseExact: true,
    canonicalValues: ['always', 'never', 'default', 'request'],
  }),
  shown('uniqueness', 'Where its value is unique.', {
    caseExact: true,
    canonicalValues: ['none', 'server', 'global'],
  }),
  shown('referenceTypes', 'What a reference may lead to.', { multiValued: true, caseExact: true }),
];

const schemaSchema: Schema = {
  id: SCHEMA_URN,
  name: 'Schema',
  description: 'Definition of a schema',
  attributes: [
    shown('id', 'URI of the schema.', required),
    shown('name', 'Name of the schema.', required),
    shown('description', 'What the schema is for.'),
    shown('attributes', 'Its attributes.', {
      type: 'complex',
      multiValued: true,
      required: true,
      subAttributes: [
        ...characteristics,
        shown('subAttributes', 'Parts of a complex attribute.', {
          type: 'complex',
          multiValued: true,
          subAttributes: characteristics,
        }),
      ],
    }),
  ],
};

export const serviceProviderSchemas: readonly Schema[] = [
  serviceProviderConfigSchema,
  resourceTypeSchema,
  schemaSchema,
];
