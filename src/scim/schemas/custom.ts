// Converts extensions from the settings to schemas.
import { attribute, type Attribute, type AttributeType, type Schema } from '../attributes.ts';

/** One attribute of an extension in the settings. Its sub-attributes cannot be complex. */
interface CustomAttribute {
  readonly name: string;
  readonly type: AttributeType;
  readonly description: string;
  readonly multiValued?: boolean;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability?: 'readWrite' | 'immutable';
  readonly returned?: 'always' | 'default' | 'request';
  /** Suggested values; other values are accepted. */
  readonly canonicalValues: readonly string[];
  readonly referenceTypes: readonly string[];
  readonly subAttributes?: readonly CustomAttribute[];
}

export interface CustomSchema {
  /** URN. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly resourceType: 'User' | 'Group';
  /** Whether every resource of the type must have values of this schema. */
  readonly required: boolean;
  readonly attributes: readonly CustomAttribute[];
}

/** An extension of a resource type. `required`: every resource must have values of it. */
export interface Extension {
  readonly schema: Schema;
  readonly required: boolean;
}

function toAttribute(definition: CustomAttribute): Attribute {
  const { name, description, canonicalValues, referenceTypes, subAttributes, ...characteristics } =
    definition;
  return attribute(name, description, {
    ...characteristics,
    ...(canonicalValues.length > 0 && { canonicalValues }),
    ...(definition.type === 'reference' && { referenceTypes }),
    ...(definition.type === 'complex' && { subAttributes: (subAttributes ?? []).map(toAttribute) }),
  });
}

/** Returns the extensions of a resource type, each URN once: several connections may declare the same extension. */
export function extensionsOf(
  resourceType: CustomSchema['resourceType'],
  definitions: readonly CustomSchema[],
): Extension[] {
  const extensions = new Map<string, Extension>();
  for (const definition of definitions) {
    if (definition.resourceType !== resourceType) continue;
    const { id, name, description, required } = definition;
    const attributes = definition.attributes.map(toAttribute);
    extensions.set(id, { schema: { id, name, description, attributes }, required });
  }
  return [...extensions.values()];
}
