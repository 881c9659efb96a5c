// Defines the settings of custom schemas: extensions of User or Group that an identity provider sends.
// Arguments (node.ts): section(description, keys, required keys); the first word of a `choice` is its default.
import { choice, flag, list, nodeOf, section, text, TEXT, usualText, type ValueOf } from './node.ts';

/** An attribute or a sub-attribute. Sub-attributes have no `multiValued`, `mutability`, `returned` and `subAttributes`. */
export interface CustomAttributeConfig {
  name: string;
  type: 'string' | 'boolean' | 'decimal' | 'integer' | 'dateTime' | 'reference' | 'complex';
  description: string;
  multiValued?: boolean;
  required: boolean;
  caseExact: boolean;
  mutability?: 'readWrite' | 'immutable';
  returned?: 'always' | 'default' | 'request';
  canonicalValues: string[];
  referenceTypes: string[];
  subAttributes?: CustomAttributeConfig[];
}

const SIMPLE_TYPES = ['string', 'boolean', 'decimal', 'integer', 'dateTime', 'reference'] as const;

/** Returns a text that is empty by default. */
const line = (description: string) => usualText(description, '');

const name = text('Name of the attribute: a letter, then letters, digits, hyphens and underscores.', {
  pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
});

/** Returns the settings that attributes and sub-attributes share. */
const common = <const Type extends string>(types: readonly Type[]) => ({
  name,
  type: choice('Type of the values.', types, 'string'),
  description: line('What the attribute is, shown in /Schemas.'),
  required: flag('Whether it must have a value.'),
  caseExact: flag('Whether case matters when it is compared.'),
  canonicalValues: list('Usual values, shown in /Schemas; other values are accepted too.', TEXT),
  referenceTypes: list('Types of the resources that a reference may name, such as User or external.', TEXT),
});

const partSchema = section('One part of a complex attribute.', common(SIMPLE_TYPES), ['name']);

const attributeSchema = section(
  'One attribute.',
  {
    ...common([...SIMPLE_TYPES, 'complex']),
    multiValued: flag('Whether it has a list of values.'),
    mutability: choice('immutable: once set, the value cannot change.', ['readWrite', 'immutable']),
    returned: choice('request: shown only when the request names it.', ['default', 'always', 'request']),
    // Accepted because RFC 7643 §7 has it; `none` is its only value here, so CustomAttributeConfig leaves it out.
    uniqueness: choice('Only userName, externalId and names of groups are unique.', ['none']),
    subAttributes: list('Parts of a complex attribute.', partSchema),
  },
  ['name'],
);

const schemaSchema = section(
  'One extension of User or Group.',
  {
    id: text('URN of the schema, such as urn:acme:params:scim:schemas:2.0:Person.', {
      pattern: '^urn:[A-Za-z0-9][A-Za-z0-9-]{0,31}:[A-Za-z0-9._:-]{0,200}[A-Za-z0-9_-]$',
    }),
    name: text('Name of the schema.', { minLength: 1 }),
    description: line('What the schema is for, shown in /Schemas.'),
    resourceType: choice('Resource type that it extends.', ['User', 'Group']),
    required: flag('Whether every resource must have it.'),
    attributes: nodeOf<CustomAttributeConfig[]>({
      type: 'array',
      description: 'Its attributes.',
      items: attributeSchema,
      minItems: 1,
    }),
  },
  ['id', 'name', 'attributes'],
);

export type CustomSchemaConfig = ValueOf<typeof schemaSchema>;

export const customSchemasSchema = list(
  'Extensions that this identity provider sends: shown in /Schemas, checked, filtered, patched, and usable in mappings.',
  schemaSchema,
);
