// Builds the canonical form of resources: canonical names, keys in schema order, and only extensions with values, so that equal
// resources have equal JSON text. `assemble` builds it from the body of a POST or PUT, `toCanonical` from a changed resource.
import type { Fields, Section } from './attributes.ts';
import type { Resource, ResourceType } from './resource-type.ts';

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

/** Returns the members of an extension in canonical order: schema order, or alphabetical for an open schema. */
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
