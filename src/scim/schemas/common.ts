// Defines the attributes that all resources have (RFC 7643 §3.1) and that no schema document lists. In an answer the
// leading ones come before the attributes of the schema, the trailing ones after them.
import { attribute, type Attribute } from '../attributes.ts';

export const leadingAttributes: readonly Attribute[] = [
  attribute('schemas', 'URIs of the schemas of this resource.', {
    type: 'reference',
    multiValued: true,
    mutability: 'readOnly',
    returned: 'always',
    referenceTypes: ['uri'],
  }),
  attribute('id', 'Identifier issued by this service.', {
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
    uniqueness: 'server',
  }),
  attribute('externalId', 'Identifier issued by the identity provider.', { caseExact: true }),
];

export const trailingAttributes: readonly Attribute[] = [
  attribute('meta', 'Resource metadata.', {
    type: 'complex',
    mutability: 'readOnly',
    subAttributes: [
      attribute('resourceType', 'Name of the resource type.', { caseExact: true, mutability: 'readOnly' }),
      attribute('created', 'When the resource was added.', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('lastModified', 'When the resource last changed.', {
        type: 'dateTime',
        mutability: 'readOnly',
      }),
      attribute('location', 'Address of the resource.', {
        type: 'reference',
        caseExact: true,
        mutability: 'readOnly',
        referenceTypes: ['uri'],
      }),
      attribute('version', 'Version of the resource, as in the ETag header.', {
        caseExact: true,
        mutability: 'readOnly',
      }),
    ],
  }),
];

/** Returns `value`, `display`, `type` and `primary` of a multi-valued attribute (RFC 7643 §2.4). */
export function pluralParts(value: Attribute, types?: readonly string[]): readonly Attribute[] {
  return [
    value,
    attribute('display', 'A name for the value, for display only.'),
    attribute('type', 'What the value is used for.', types ? { canonicalValues: types } : {}),
    attribute('primary', 'Whether this is the preferred value; true at most once.', { type: 'boolean' }),
  ];
}
