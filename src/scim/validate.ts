// Validates the body of a POST or PUT and converts it to a canonical resource (RFC 7643 §2, RFC 7644 §3.3). Flow: checks `schemas`;
// reads each key as a core attribute, or as an extension or one of its attributes (`readForeignKey`); then validates the result.
// `checkLengths` checks the lengths of a resource: its names in characters, each of its texts in bytes, and the whole resource in
// bytes. A value that is already stored passes, so that after a limit was lowered, other changes of the resource still succeed.
import { resolveAttribute } from './attribute-path.ts';
import type { Field, Section } from './attributes.ts';
import { checkBody, isMemberName, isObject, type JsonObject, member } from './json.ts';
import {
  assemble,
  findField,
  findSection,
  findUnqualified,
  type Resource,
  type ResourceType,
  toCurrentUrn,
} from './resource-type.ts';
import { invalidSyntax, invalidValue, type ScimError } from './errors.ts';
import type { Profile } from './profiles.ts';
import { isStored, readOpen, readValue } from './values.ts';
import { NAMES } from './names.ts';

/**
 * Returns the canonical resource of a POST or PUT body (RFC 7644 §3.3 and §3.5.1), without `id` and `meta`, which the
 * server sets, without `password`, which is never stored, and without group members (`membersOf` in patch/members.ts).
 * @throws 400 invalidSyntax when the body is no object, 400 invalidValue when a value does not fit its schema
 */
export function parseResource(type: ResourceType, body: unknown, profile: Profile): Resource {
  if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
  checkBody(body);
  checkSchemas(type, body, profile);
  const values = new Array<unknown>(type.core.fields.list.length);
  const extensions: JsonObject = {};
  for (const key of Object.keys(body)) {
    const field = findField(type.core.fields, key);
    if (!field) readForeignKey(type, key, body[key], extensions, profile);
    else if (!isLeftOut(type, field)) values[field.place] = readValue(field, body[key], profile);
  }
  const resource = assemble(type, values, extensions);
  const fault = type.validator.fault(resource);
  if (fault) throw fault;
  return resource;
}

/** @throws 400 invalidValue when `schemas` lacks the core URN or lists an unknown one, unless the profile allows that */
function checkSchemas(type: ResourceType, body: JsonObject, profile: Profile): void {
  const listed = member(body, 'schemas');
  const urns = Array.isArray(listed) ? (listed as unknown[]) : [];
  let hasCore = false;
  let hasUnknown = false;
  for (const urn of urns) {
    const section = typeof urn === 'string' ? findSection(type, urn) : undefined;
    if (!section) hasUnknown = true;
    else if (section.core) hasCore = true;
  }
  if (!hasCore && !profile.allows('missing-schema'))
    throw invalidValue(`"schemas" must list "${type.core.urn}".`);
  if (hasUnknown && !profile.allows('unknown-schema'))
    throw invalidValue('"schemas" lists a schema that this service does not have.');
}

// Returns whether the value is skipped: read-only attributes, `password`, and members, which are stored separately.
function isLeftOut(type: ResourceType, field: Field): boolean {
  const { mutability, returned } = field.attribute;
  return (
    mutability === 'readOnly' || returned === 'never' || (type.name === 'Group' && field.name === 'members')
  );
}

/** Reads a key that is no core attribute. A key that no schema declares is ignored; `allows` then only counts the deviation. */
function readForeignKey(
  type: ResourceType,
  sent: string,
  raw: unknown,
  extensions: JsonObject,
  profile: Profile,
): void {
  const key = toCurrentUrn(type, sent, profile);
  const section = findSection(type, key);
  if (section && !section.core) return readSection(section, raw, extensions, profile);
  // `section` is the core schema here. A body has core attributes at its top level and not under this URN, so the key is ignored.
  const place = section ? undefined : placeOf(type, key, profile);
  if (place) readSection(place.section, { [place.name]: raw }, extensions, profile);
  else profile.allows('unknown-attribute');
}

/**
 * Returns the extension and the name of the attribute that a key means: a path such as `urn:…:User:manager`, or the name without
 * URN. Undefined: there is none, or the profile does not accept such a key.
 */
function placeOf(
  type: ResourceType,
  key: string,
  profile: Profile,
): { section: Section; name: string } | undefined {
  const found = key.includes(':') ? resolveAttribute(type, key) : undefined;
  if (found?.kind === 'attribute' && !found.section.core && !found.sub && profile.allows('path-keys'))
    return { section: found.section, name: found.field.name };
  if (found?.kind === 'member' && profile.allows('path-keys'))
    return { section: found.section, name: found.name };
  const unqualified = findUnqualified(type, key);
  if (!unqualified || !profile.allows('unqualified-extension')) return undefined;
  return { section: unqualified.section, name: unqualified.field.name };
}

/**
 * Adds the values of an extension to `extensions`. An open extension keeps undeclared names; in any other they are ignored, and
 * `allows` only counts them.
 */
function readSection(section: Section, raw: unknown, extensions: JsonObject, profile: Profile): void {
  if (raw === null || raw === undefined) return;
  if (!isObject(raw)) throw invalidValue(`"${section.urn}" must be an object.`);
  // An extension that needs no conversion is kept as it was sent.
  if (!Object.hasOwn(extensions, section.urn) && isStored(section.fields, raw)) {
    extensions[section.urn] = raw;
    return;
  }
  // A body can name an extension twice, for example by its URN and by path keys. The earlier values are kept, in a copy,
  // because their object may be part of the request body.
  const first = Object.hasOwn(extensions, section.urn) ? (extensions[section.urn] as JsonObject) : {};
  const members = { ...first };
  extensions[section.urn] = members;
  for (const key of Object.keys(raw)) {
    const field = findField(section.fields, key);
    if (field) members[field.name] = readValue(field, raw[key], profile);
    else if (!section.schema.open) profile.allows('unknown-attribute');
    else if (isMemberName(key)) members[key] = readOpen(section, key, raw[key]);
    else throw invalidValue(`"${key.slice(0, 128)}" cannot be the name of a user attribute.`);
  }
}

export interface LengthLimits {
  /** UTF-8 bytes of one text. */
  readonly valueBytes: number;
  /** Characters of userName, displayName, externalId and the value of a group member. */
  readonly nameCharacters: number;
  /** UTF-8 bytes of a resource as JSON text, without the members of a group. */
  readonly resourceBytes: number;
}

/** UTF-8 bytes that one UTF-16 code unit takes at most. */
const MOST_BYTES = 3;

/**
 * Checks the length limits of a resource.
 * @param text canonical JSON of the resource
 * @param before the stored resource, when the request changes one
 * @throws 400 invalidValue that names the attribute
 */
export function checkLengths(
  resource: JsonObject,
  text: string,
  limits: LengthLimits,
  before?: JsonObject,
): void {
  for (const name of NAMES) {
    const value = resource[name];
    if (isLongName(value, limits) && value !== before?.[name])
      throw tooLong(name, limits.nameCharacters, 'characters');
  }
  // A resource whose whole text is within the limit of one value contains no longer value.
  if (isLongText(text, limits.valueBytes)) checkTexts(resource, limits.valueBytes, before);
  if (!isLongText(text, limits.resourceBytes)) return;
  const bytes = Buffer.byteLength(text);
  // A resource that was too large before may stay, but not grow.
  if (before && bytes <= Buffer.byteLength(JSON.stringify(before))) return;
  const [largest] = Object.keys(resource).sort((a, b) => sizeOf(resource[b]) - sizeOf(resource[a]));
  throw invalidValue(
    `The resource has ${bytes} bytes, more than ${limits.resourceBytes}; most of it is in "${largest}".`,
  );
}

/** Checks the values of group members. @throws 400 invalidValue when one is longer than any id, externalId or userName may be */
export function checkMemberLengths(values: Iterable<string>, limits: LengthLimits): void {
  for (const value of values)
    if (isLongName(value, limits)) throw tooLong('members.value', limits.nameCharacters, 'characters');
}

/** Checks every text in a resource. A text that the stored resource has under the same path passes, at any place in a list. */
function checkTexts(resource: JsonObject, most: number, before: JsonObject | undefined): void {
  let stored: Set<string> | undefined;
  for (const [path, text] of longTexts(resource, '', most)) {
    stored ??= new Set(Array.from(longTexts(before, '', most), (each) => each.join(' ')));
    if (!stored.has(`${path} ${text}`)) throw tooLong(path, most, 'bytes');
  }
}

/** Yields the texts in a value that are above the limit. `path`: SCIM path of the value, empty for a resource. */
function* longTexts(value: unknown, path: string, most: number): Generator<[path: string, text: string]> {
  if (typeof value === 'string') {
    if (isLongText(value, most)) yield [path, value];
  } else if (Array.isArray(value)) {
    for (const item of value) yield* longTexts(item, path, most);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) yield* longTexts(value[key], below(path, key), most);
  }
}

/** Appends a key to a path: `name.givenName`, or `urn:…:User:department` behind a URN. */
function below(path: string, key: string): string {
  if (path === '') return key.includes(':') ? `${key}:` : key;
  return path.endsWith(':') ? path + key : `${path}.${key}`;
}

const sizeOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);

// A text has at most as many characters as UTF-16 code units, so the characters are counted for a long text only.
const isLongName = (value: unknown, { nameCharacters: most }: LengthLimits): boolean =>
  typeof value === 'string' && value.length > most && [...value].length > most;

// The bytes are counted only if the number of code units decides neither way.
const isLongText = (text: string, most: number): boolean =>
  text.length * MOST_BYTES > most && (text.length > most || Buffer.byteLength(text) > most);

const tooLong = (path: string, most: number, unit: string): ScimError =>
  invalidValue(`Attribute "${path}" is longer than ${most} ${unit}.`);
