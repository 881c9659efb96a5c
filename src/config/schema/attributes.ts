// Defines the settings of the attribute mapping of a target. The schema describes each field of the types.
import { ATTRIBUTE_PATTERN, choice, named, optionalText, section, type SchemaNode } from './node.ts';

export type MappedAttributeType = 'string' | 'number' | 'boolean' | 'string_array' | 'number_array';

/** Source of one platform attribute: exactly one of `from` and `expression` is set. */
export type AttributeConfig = { type: MappedAttributeType; onEmpty: 'keep' | 'clear' } & (
  { from: string; expression?: never } | { expression: string; from?: never }
);

const attributeSchema = section(
  'One attribute; give exactly one of from and expression.',
  {
    type: {
      type: 'string',
      description: 'Type at the platform.',
      enum: ['string', 'number', 'boolean', 'string_array', 'number_array'],
    },
    from: optionalText('SCIM attribute path of the value, such as addresses[type eq "work"].country.'),
    expression: optionalText(
      'JSONata expression over the SCIM resource, within 50 ms; its regular expressions in RE2 syntax.',
    ),
    onEmpty: choice('Effect of an empty value: clear removes the value at the platform, keep leaves it.', [
      'clear',
      'keep',
    ]),
  },
  ['type'],
);

export const attributesSchema: SchemaNode = named(
  'Attributes at the platform by name.',
  ATTRIBUTE_PATTERN,
  attributeSchema,
  {},
);
