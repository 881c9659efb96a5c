// Compiles a resource type: its sections and its validator. A section is the core schema or an extension with its compiled
// attributes (attributes.ts). The other functions serve requests: `find...` and `toCurrentUrn` look up the names in a request;
// `assemble` (body of a POST or PUT) and `toCanonical` (changed resource) build the canonical form: canonical names, keys in schema
// order, and only extensions with values, so that equal resources have equal JSON text.
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
import type { Profile } from './profiles.ts';
import { leadingAttributes, trailingAttributes } from './schemas/common.ts';
import { type CustomSchema, type Extension, extensionsOf } from './schemas/custom.ts';
import { enterpriseUserSchema } from './schemas/enterprise-user.ts';
import { groupSchema } from './schemas/group.ts';
import { type UserAttributeDefinition, userAttributeSchema } from './schemas/user-attribute.ts';
import { userSchema } from './schemas/user.ts';
import { ENTERPRISE_USER_URN } from './urns.ts';

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

/** Returns the attribute of an extension with this name; undefined when there is none. Entra sends `manager` without its URN. */
export function findUnqualified(type: ResourceType, name: string): PlacedField | undefined {
  for (const section of type.sections) {
    // An open schema (`Schema.open`) has attributes of any name, so a name without URN does not tell that this schema is meant.
    const field = section.schema.open ? undefined : findField(section.fields, name);
    if (field) return { section, field };
  }
  return undefined;
}

/** The enterprise extension in SCIM 1.1 and in drafts of SCIM 2.0. */
const FORMER_URN = /^urn:(?:ietf:params:)?scim:schemas:extension:enterprise:[12]\.0(?::user)?(?=:|$)/i;

/**
 * Returns a key or path with outdated URN forms replaced, if the profile accepts them: URNs of SCIM 1.1 (OneLogin), and a
 * dot after the URN (Entra).
 */
export function toCurrentUrn(type: ResourceType, written: string, profile: Profile): string {
  if (!written.includes(':') || type.byExactUrn.has(written)) return written;
  const text = withColon(type, written, profile);
  const former = FORMER_URN.exec(text)?.[0];
  if (former === undefined) return text;
  const lower = text.toLowerCase();
  // A URN that a schema of this type has is kept.
  const known = type.byUrn.some(({ key }) => lower === key || lower.startsWith(`${key}:`));
  return known || !profile.allows('former-urn') ? text : ENTERPRISE_USER_URN + text.slice(former.length);
}

/** Replaces a dot behind a registered URN by a colon. */
function withColon(type: ResourceType, text: string, profile: Profile): string {
  const lower = text.toLowerCase();
  const urn = type.byUrn.find(({ key }) => lower.startsWith(key))?.key;
  if (urn === undefined || text[urn.length] !== '.' || !profile.allows('urn-dot')) return text;
  return `${text.slice(0, urn.length)}:${text.slice(urn.length + 1)}`;
}

/**
 * Builds the canonical resource of the body of a POST or PUT (validate.ts) from core values by position (`Field.place`) and
 * extension values by URN. A changed resource is built by `toCanonical`.
 */
export function assemble(
  type: ResourceType,
  values: readonly unknown[],
  extensions: Readonly<Record<string, unknown>>,
): Resource {
  const resource: Resource = { schemas: [type.core.urn] };
  for (const { name, place } of type.core.fields.list) {
    if (values[place] !== undefined) resource[name] = values[place];
  }
  addExtensions(type, resource, extensions);
  return resource;
}

/**
 * Returns the canonical resource: `schemas`, core attributes in schema order, extensions in order, `meta`. `schemas` is
 * computed: the core URN, then each extension that has values. `draft` holds canonical names and values.
 */
export function toCanonical(type: ResourceType, draft: Readonly<Record<string, unknown>>): Resource {
  const resource: Resource = { schemas: [type.core.urn] };
  for (const { name } of type.core.fields.list) {
    if (name === 'schemas' || name === 'meta') continue;
    if (Object.hasOwn(draft, name) && draft[name] !== undefined) resource[name] = draft[name];
  }
  addExtensions(type, resource, draft);
  if (Object.hasOwn(draft, 'meta') && draft.meta !== undefined) resource.meta = draft.meta;
  return resource;
}

/** Adds the extensions that have values to the resource and to `schemas`, in order. */
function addExtensions(
  type: ResourceType,
  resource: Resource,
  extensions: Readonly<Record<string, unknown>>,
): void {
  for (const section of type.sections) {
    if (!Object.hasOwn(extensions, section.urn) || extensions[section.urn] === undefined) continue;
    const members = orderSection(section, extensions[section.urn] as Record<string, unknown>);
    if (!members) continue;
    resource.schemas.push(section.urn);
    resource[section.urn] = members;
  }
}

/** Returns the values of an extension in schema order, of an open schema in alphabetical order; undefined when there are none. */
function orderSection(
  section: Section,
  values: Record<string, unknown>,
): Record<string, unknown> | undefined {
  if (!section.schema.open) return orderParts(section.fields, values);
  const names = Object.keys(values);
  if (names.length > 0 && isSorted(names) && hasAll(values, names)) return values;
  let ordered: Record<string, unknown> | undefined;
  for (const name of names.sort()) {
    if (values[name] === undefined) continue;
    ordered ??= {};
    ordered[name] = values[name];
  }
  return ordered;
}

/**
 * Returns sub-attributes in schema order; undefined when none has a value. Keys of `values` must be canonical names. The
 * same object is returned when it is in order already.
 */
export function orderParts(
  fields: Fields,
  values: Record<string, unknown>,
): Record<string, unknown> | undefined {
  const names = Object.keys(values);
  if (names.length === 0) return undefined;
  if (isOrdered(fields, names) && hasAll(values, names)) return values;
  let ordered: Record<string, unknown> | undefined;
  for (const { name } of fields.list) {
    if (!Object.hasOwn(values, name) || values[name] === undefined) continue;
    ordered ??= {};
    ordered[name] = values[name];
  }
  return ordered;
}

/** Returns whether all names are spelled and ordered as in the schema. */
function isOrdered(fields: Fields, names: readonly string[]): boolean {
  let last = -1;
  for (const name of names) {
    const field = fields.byName.get(name);
    if (!field || field.name !== name || field.place <= last) return false;
    last = field.place;
  }
  return true;
}

const isSorted = (names: readonly string[]): boolean =>
  names.every((name, index) => index === 0 || (names[index - 1] as string) < name);

const hasAll = (values: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  names.every((name) => values[name] !== undefined);
