// Compiles a resource type: lookups of its attributes and schemas, and its validator. A section is the core schema or an extension
// with its compiled attributes (attributes.ts). Canonical form of its resources: canonical.ts.
import {
  type Attribute,
  type Field,
  type Fields,
  plainNames,
  type Schema,
  type Section,
  toFields,
} from './attributes.ts';
import { compileValidator, type Validator } from './constraints.ts';
import { leadingAttributes, trailingAttributes } from './schemas/common.ts';
import { type CustomSchema, type Extension, extensionsOf } from './schemas/custom.ts';
import { enterpriseUserSchema } from './schemas/enterprise-user.ts';
import { groupSchema } from './schemas/group.ts';
import { type UserAttributeDefinition, userAttributeSchema } from './schemas/user-attribute.ts';
import { userSchema } from './schemas/user.ts';

/** JSON with canonical names and keys in schema order, so that equal resources have equal JSON text. */
export type Resource = { schemas: string[]; [attribute: string]: unknown };

interface ResourceTypeDefinition {
  readonly name: 'User' | 'Group';
  readonly endpoint: '/Users' | '/Groups';
  readonly description: string;
  readonly schema: Schema;
  readonly extensions: readonly Extension[];
}

/** An attribute with the schema it belongs to. */
export interface PlacedField {
  readonly section: Section;
  readonly field: Field;
}

export interface ResourceType extends ResourceTypeDefinition {
  readonly core: Section;
  /** The extensions. */
  readonly sections: readonly Section[];
  /** Core schema and extensions, longest URN first, because a URN may be a prefix of another. */
  readonly byUrn: readonly Section[];
  /** Core schema and extensions by the exact spelling of their URN. */
  readonly byExactUrn: ReadonlyMap<string, Section>;
  /** Immutable attributes except the members of a group, which are stored separately. */
  readonly immutable: readonly PlacedField[];
  /** Whether the type has attributes with `returned: request`. */
  readonly hasRequestOnly: boolean;
  readonly validator: Validator;
}

function toSection(schema: Schema, core: boolean, required = false): Section {
  const attributes: readonly Attribute[] = core
    ? [...leadingAttributes, ...schema.attributes, ...trailingAttributes]
    : schema.attributes;
  const fields = toFields(attributes, core ? '' : `${schema.id}:`);
  const plain = plainNames(fields);
  return { schema, urn: schema.id, key: schema.id.toLowerCase(), core, required, fields, plain };
}

/** Returns the attributes whose values are part of the stored text. */
const storedFields = (core: Section, sections: readonly Section[]): PlacedField[] =>
  [core, ...sections].flatMap((section) =>
    section.fields.list
      .filter(
        ({ name, attribute }) => attribute.mutability !== 'readOnly' && !(section.core && name === 'members'),
      )
      .map((field) => ({ section, field })),
  );

/** Compiles a definition of a resource type. */
export function createResourceType(definition: ResourceTypeDefinition): ResourceType {
  const core = toSection(definition.schema, true);
  const sections = definition.extensions.map(({ schema, required }) => toSection(schema, false, required));
  const stored = storedFields(core, sections);
  return {
    ...definition,
    core,
    sections,
    byUrn: [core, ...sections].sort((a, b) => b.key.length - a.key.length),
    byExactUrn: new Map([core, ...sections].map((section) => [section.urn, section])),
    immutable: stored.filter(({ field }) => field.attribute.mutability === 'immutable'),
    hasRequestOnly: stored.some(({ field }) => field.attribute.returned === 'request'),
    validator: compileValidator(core, sections),
  };
}

/** Creates the User type: core, enterprise extension, user attributes of the platform, and custom schemas. */
export function userResourceType(options: {
  userAttributes: readonly UserAttributeDefinition[];
  schemas?: readonly CustomSchema[];
}): ResourceType {
  return createResourceType({
    name: 'User',
    endpoint: '/Users',
    description: 'User Account',
    schema: userSchema,
    extensions: [
      { schema: enterpriseUserSchema, required: false },
      { schema: userAttributeSchema(options.userAttributes), required: false },
      ...extensionsOf('User', options.schemas ?? []),
    ],
  });
}

/** Creates the Group type: core schema and custom schemas. */
export function groupResourceType(options: { schemas?: readonly CustomSchema[] } = {}): ResourceType {
  return createResourceType({
    name: 'Group',
    endpoint: '/Groups',
    description: 'Group',
    schema: groupSchema,
    extensions: extensionsOf('Group', options.schemas ?? []),
  });
}

/** Returns an attribute by name without regard to case (RFC 7643 §2.1); an exact match wins. */
export function findField(fields: Fields, name: string): Field | undefined {
  return fields.byName.get(name) ?? fields.byName.get(name.toLowerCase());
}

/** Returns the schema with this URN without regard to case. */
export function findSection(type: ResourceType, key: string): Section | undefined {
  const exact = type.byExactUrn.get(key);
  if (exact || !key.includes(':')) return exact;
  const lower = key.toLowerCase();
  return type.byUrn.find((section) => section.key === lower);
}

/** Finds an attribute of an extension by its name without URN, as Entra sends `manager`; undefined when there is none. */
export function findUnqualified(type: ResourceType, name: string): PlacedField | undefined {
  for (const section of type.sections) {
    // An open schema has attributes of any name, so a name alone does not show that it is meant.
    const field = section.schema.open ? undefined : findField(section.fields, name);
    if (field) return { section, field };
  }
  return undefined;
}
