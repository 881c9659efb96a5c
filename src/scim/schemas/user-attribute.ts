// Defines the extension for the platform's user attributes: configured ones have a type, others are stored as sent.
import { attribute, type AttributeType, type Schema } from '../attributes.ts';
import { isMemberName } from '../json.ts';
import { USER_ATTRIBUTE_URN } from '../urns.ts';

type ExtensionAttributeType = 'string' | 'number' | 'boolean' | 'string_array' | 'number_array';

export interface UserAttributeDefinition {
  readonly name: string;
  readonly type: ExtensionAttributeType;
}

const SCIM_TYPES: Record<ExtensionAttributeType, AttributeType> = {
  string: 'string',
  number: 'decimal',
  boolean: 'boolean',
  string_array: 'string',
  number_array: 'decimal',
};

/**
 * Returns the open schema `urn:cube:params:1.0:UserAttribute`. Values are compared with case, as access policies do.
 * @throws Error when a configured name is not allowed in an open schema, such as `__proto__`, or is given twice
 */
export function userAttributeSchema(definitions: readonly UserAttributeDefinition[]): Schema {
  const names = new Set<string>();
  for (const { name } of definitions) {
    if (!isMemberName(name)) throw new Error(`"${name}" cannot be the name of a user attribute.`);
    // Names of SCIM attributes ignore case; names of an open schema do not.
    if (names.has(name)) throw new Error(`User attribute "${name}" is configured twice.`);
    names.add(name);
  }
  return {
    id: USER_ATTRIBUTE_URN,
    name: 'UserAttribute',
    description: 'Attributes of the user that access policies of the data platform read',
    open: true,
    attributes: definitions.map(({ name, type }) =>
      attribute(name, `User attribute "${name}" (${type}).`, {
        type: SCIM_TYPES[type],
        multiValued: type.endsWith('_array'),
        caseExact: true,
      }),
    ),
  };
}
