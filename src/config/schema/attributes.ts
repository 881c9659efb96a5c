// Defines the settings of the attribute mapping of a target.
// Arguments (node.ts): section(description, keys, required keys); the first word of a `choice` is its default.
import { ATTRIBUTE_PATTERN, choice, named, nodeOf, optionalText, section, type ValueOf } from './node.ts';

const TYPES = ['string', 'number', 'boolean', 'string_array', 'number_array'] as const;

const attributeSchema = section(
  'One attribute; give exactly one of from and expression.',
  {
    type: nodeOf<(typeof TYPES)[number]>({
      type: 'string',
      description: 'Type at the platform.',
      enum: TYPES,
    }),
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

/** An attribute of validated settings; both `from` and `expression` may still be set or missing, unlike in `AttributeConfig`. */
export type AttributeSettings = ValueOf<typeof attributeSchema>;

/** Source of one platform attribute: exactly one of `from` and `expression` is set. */
export type AttributeConfig = Pick<AttributeSettings, 'type' | 'onEmpty'> &
  ({ from: string; expression?: never } | { expression: string; from?: never });

export const attributesSchema = named(
  'Attributes at the platform by name.',
  ATTRIBUTE_PATTERN,
  attributeSchema,
  {},
);
