// From what a client sent to a canonical resource: names, types, unassigned values, one primary (RFC 7643 section 2).
import { findField, isMemberName, type Field, type Section } from './attributes.ts';
import { invalidSyntax, invalidValue } from './errors.ts';
import { notA } from './json-schema.ts';
import type { Profile } from './profiles.ts';
import {
  findSection,
  findUnqualified,
  orderParts,
  toCanonical,
  type Resource,
  type ResourceType,
} from './resource-type.ts';
import { resolveAttribute } from './attribute-path.ts';

export type JsonObject = Record<string, unknown>;

const MAX_DEPTH = 32;
const NUMBER_TEXT = /^-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Half of a character pair is what JSON can escape and UTF-8 can not carry. */
function checkText(text: string): void {
  if (!text.isWellFormed()) throw invalidValue('A text in the body is not valid Unicode.');
}

/** @throws 400 invalidSyntax when `value` nests deeper than 32 objects or lists, invalidValue for broken text. */
export function checkBody(value: unknown, depth = 0): void {
  if (typeof value === 'string') checkText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DEPTH) throw invalidSyntax(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  if (Array.isArray(value)) {
    for (const item of value) checkBody(item, depth + 1);
    return;
  }
  for (const key of Object.keys(value)) {
    checkText(key);
    checkBody((value as JsonObject)[key], depth + 1);
  }
}

/** Whether a JSON number arrived as it was written: beyond 2^53 digits were lost already. */
const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

/** One simple value of the field's type. @throws 400 invalidValue. */
export function readScalar(field: Field, raw: unknown, profile: Profile): string | number | boolean {
  const type = field.attribute.type;
  switch (type) {
    case 'boolean':
      return readBoolean(field, raw, profile);
    case 'decimal':
    case 'integer':
      return readNumber(field, raw, profile, type === 'integer');
    case 'string':
    case 'reference':
    case 'binary':
    case 'dateTime':
      if (typeof raw === 'string') return raw;
      if (typeof raw === 'number' && !isExact(raw))
        throw notA(field, 'text (this number has too many digits)');
      if ((typeof raw === 'number' || typeof raw === 'boolean') && profile.allows('scalars-as-text')) {
        return String(raw);
      }
      throw notA(field, 'text');
    case 'complex':
      throw notA(field, 'a simple value');
  }
}

function readBoolean(field: Field, raw: unknown, profile: Profile): boolean {
  if (typeof raw === 'boolean') return raw;
  const lower = typeof raw === 'string' ? raw.toLowerCase() : '';
  if ((lower === 'true' || lower === 'false') && profile.allows('string-booleans')) return lower === 'true';
  throw notA(field, 'a boolean');
}

function readNumber(field: Field, raw: unknown, profile: Profile, integer: boolean): number {
  let value = typeof raw === 'number' ? raw : NaN;
  if (typeof raw === 'string' && NUMBER_TEXT.test(raw) && profile.allows('string-numbers'))
    value = Number(raw);
  if (isExact(value) && (!integer || Number.isInteger(value))) return value;
  throw notA(field, integer ? 'an integer' : 'a number');
}

/** A value for a single complex attribute brought into object form; undefined means unassigned. */
export function toComplexInput(field: Field, raw: unknown, profile: Profile): JsonObject | undefined {
  if (raw === null || raw === undefined) return undefined;
  if (Array.isArray(raw)) {
    if (raw.length === 0) return undefined;
    if (raw.length > 1 || Array.isArray(raw[0]) || !profile.allows('list-for-single')) {
      throw notA(field, 'a single value');
    }
    return toComplexInput(field, raw[0], profile);
  }
  if (isObject(raw)) return withValue(field, raw, profile);
  const value = field.parts?.byName.get('value');
  if (!value || !profile.allows('scalar-for-complex')) throw notA(field, 'an object');
  return { value: raw };
}

// `{"$ref": …}` and OneLogin's `{"managerId": …}` name the value in another way.
function withValue(field: Field, raw: JsonObject, profile: Profile): JsonObject {
  if (!field.parts?.byName.has('$ref') || Object.hasOwn(raw, 'value')) return raw;
  if (typeof raw.$ref === 'string' && profile.allows('reference-for-value')) {
    return { ...raw, value: lastSegment(raw.$ref) };
  }
  if (field.name === 'manager' && Object.hasOwn(raw, 'managerId') && profile.allows('manager-id')) {
    return { value: raw.managerId };
  }
  return raw;
}

/** The identifier at the end of a resource address; empty when there is none. */
export function lastSegment(address: string): string {
  const path = address.split(/[?#]/, 1)[0] ?? '';
  const segment = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a stray percent sign: then the text is the identifier
  }
}

/** Writes the given sub-attributes into `target`: null unsets, unknown and readOnly ones are left out. */
export function readParts(field: Field, raw: JsonObject, target: JsonObject, profile: Profile): void {
  const parts = field.parts;
  if (!parts) throw notA(field, 'a simple value');
  for (const key of Object.keys(raw)) {
    const part = findField(parts, key);
    if (!part) profile.allows('unknown-attribute');
    else if (part.attribute.mutability !== 'readOnly') target[part.name] = readPart(part, raw[key], profile);
  }
}

function readPart(part: Field, raw: unknown, profile: Profile): unknown {
  if (raw === null || raw === undefined) return undefined;
  return readScalar(part, raw, profile);
}

/** One element of a multi-valued attribute in object form (a simple one as `{value}`); undefined: nothing in it. */
export function readElement(field: Field, raw: unknown, profile: Profile): JsonObject | undefined {
  if (raw === null || raw === undefined) return undefined;
  if (field.attribute.type !== 'complex') {
    // {"value": …} is how some providers send lists of simple values.
    return {
      value: readScalar(field, isObject(raw) && Object.hasOwn(raw, 'value') ? raw.value : raw, profile),
    };
  }
  if (Array.isArray(raw)) throw notA(field, 'a list of objects');
  const input = toComplexInput(field, raw, profile);
  if (!input || !field.parts) return undefined;
  const element: JsonObject = {};
  readParts(field, input, element, profile);
  return orderParts(field.parts, element);
}

/** The elements of a multi-valued attribute; a single value counts as a list of one where the profile says so. */
export function readElements(field: Field, raw: unknown, profile: Profile): JsonObject[] {
  if (raw === null || raw === undefined) return [];
  const elements: JsonObject[] = [];
  if (Array.isArray(raw)) {
    checkCount(field.path, raw.length);
    for (const item of raw) {
      const element = readElement(field, item, profile);
      if (element) elements.push(element);
    }
  } else {
    if (!profile.allows('single-for-list')) throw notA(field, 'a list');
    const element = readElement(field, raw, profile);
    if (element) elements.push(element);
  }
  return elements;
}

/** The stored form of a list of elements: at most one primary, the last one named (RFC 7643 section 2.4). */
/** More than anybody has of anything; comparing values with each other stays cheap. */
const MAX_VALUES = 1000;

function checkCount(path: string, count: number): void {
  if (count > MAX_VALUES) throw invalidValue(`Attribute "${path}" may have ${MAX_VALUES} values.`);
}

export function fromElements(field: Field, elements: readonly JsonObject[]): unknown[] | undefined {
  if (elements.length === 0) return undefined;
  checkCount(field.path, elements.length);
  if (field.attribute.type !== 'complex') return elements.map((element) => element.value);
  const newest = elements.findLastIndex((element) => element.primary === true);
  return elements.map((element, index) =>
    element.primary === true && index !== newest ? { ...element, primary: false } : element,
  );
}

/** Any value of a declared attribute in canonical form; undefined means unassigned. @throws 400 invalidValue. */
export function readValue(field: Field, raw: unknown, profile: Profile): unknown {
  if (raw === null || raw === undefined) return undefined;
  // Nothing identifies nobody; kept, it would collide with the next empty one.
  if (raw === '' && field.path === 'externalId' && profile.allows('empty-reference')) return undefined;
  if (field.attribute.multiValued) return fromElements(field, readElements(field, raw, profile));
  if (field.attribute.type !== 'complex') {
    if (!Array.isArray(raw)) return readScalar(field, raw, profile);
    if (raw.length === 0) return undefined;
    if (raw.length > 1 || !profile.allows('list-for-single')) throw notA(field, 'a single value');
    return readValue(field, raw[0] === raw ? null : raw[0], profile);
  }
  const input = toComplexInput(field, raw, profile);
  if (!input || !field.parts) return undefined;
  const parts: JsonObject = {};
  readParts(field, input, parts, profile);
  return settleComplex(field, parts, profile);
}

/** A single complex value in order; undefined when empty, or when it is a reference to nobody. */
export function settleComplex(field: Field, parts: JsonObject, profile: Profile): JsonObject | undefined {
  if (!field.parts) return undefined;
  if (parts.value === '' && field.parts.byName.has('$ref') && profile.allows('empty-reference'))
    return undefined;
  return orderParts(field.parts, parts);
}

function checkNumber(section: Section, name: string, raw: unknown): void {
  if (typeof raw !== 'number' || isExact(raw)) return;
  throw invalidValue(`Attribute "${section.urn}:${name}" has more digits than a number can keep.`);
}

/** A value of an undeclared member: scalars and lists of scalars keep their JSON type. @throws 400 invalidValue. */
export function readOpen(section: Section, name: string, raw: unknown): unknown {
  if (raw === null || raw === undefined) return undefined;
  if (!Array.isArray(raw)) {
    checkNumber(section, name, raw);
    if (typeof raw !== 'object') return raw;
    throw invalidValue(
      `Attribute "${section.urn}:${name}" must be a simple value or a list of simple values.`,
    );
  }
  checkCount(`${section.urn}:${name}`, raw.length);
  const items = (raw as unknown[]).filter((item) => item !== null && item !== undefined);
  items.forEach((item) => checkNumber(section, name, item));
  if (items.some((item) => typeof item === 'object')) {
    throw invalidValue(`Attribute "${section.urn}:${name}" must be a list of simple values.`);
  }
  return items.length > 0 ? items : undefined;
}

function readSection(section: Section, raw: unknown, draft: JsonObject, profile: Profile): void {
  if (raw === null || raw === undefined) return;
  if (!isObject(raw)) throw invalidValue(`"${section.urn}" must be an object.`);
  const members = (Object.hasOwn(draft, section.urn) ? draft[section.urn] : {}) as JsonObject;
  draft[section.urn] = members;
  for (const key of Object.keys(raw)) {
    const field = findField(section.fields, key);
    if (field) members[field.name] = readValue(field, raw[key], profile);
    else if (!section.schema.open) profile.allows('unknown-attribute');
    else if (isMemberName(key)) members[key] = readOpen(section, key, raw[key]);
    else throw invalidValue(`"${key.slice(0, 128)}" cannot be the name of a user attribute.`);
  }
}

// What the client may not set, what is never kept (password), and members, which live apart as a set.
function isLeftOut(type: ResourceType, field: Field): boolean {
  const { mutability, returned } = field.attribute;
  return (
    mutability === 'readOnly' || returned === 'never' || (type.name === 'Group' && field.name === 'members')
  );
}

function readForeignKey(
  type: ResourceType,
  key: string,
  raw: unknown,
  draft: JsonObject,
  profile: Profile,
): void {
  const section = findSection(type, key);
  if (section) {
    if (!section.core) readSection(section, raw, draft, profile);
    else profile.allows('unknown-attribute');
    return;
  }
  const found = key.includes(':') ? resolveAttribute(type, key) : undefined;
  if (found?.kind === 'attribute' && !found.section.core && !found.sub && profile.allows('path-keys')) {
    readSection(found.section, { [found.field.name]: raw }, draft, profile);
  } else if (found?.kind === 'member' && profile.allows('path-keys')) {
    readSection(found.section, { [found.name]: raw }, draft, profile);
  } else {
    const unqualified = findUnqualified(type, key);
    if (unqualified && profile.allows('unqualified-extension')) {
      readSection(unqualified.section, { [unqualified.field.name]: raw }, draft, profile);
    } else profile.allows('unknown-attribute');
  }
}

function checkSchemas(type: ResourceType, body: JsonObject, profile: Profile): void {
  const key = Object.hasOwn(body, 'schemas')
    ? 'schemas'
    : Object.keys(body).find((each) => /^schemas$/i.test(each));
  const listed = key === undefined ? undefined : body[key];
  const urns = Array.isArray(listed) ? (listed as unknown[]) : [];
  let core = false;
  let foreign = false;
  for (const urn of urns) {
    const section = typeof urn === 'string' ? findSection(type, urn) : undefined;
    if (!section) foreign = true;
    else if (section.core) core = true;
  }
  if (!core && !profile.allows('missing-schema'))
    throw invalidValue(`"schemas" must list "${type.core.urn}".`);
  if (foreign && !profile.allows('unknown-schema'))
    throw invalidValue('"schemas" lists a schema unknown here.');
}

export interface BodyContext {
  /** Both mean the whole resource; kept apart because RFC 7644 section 3.5.1 treats immutable attributes apart. */
  readonly operation: 'create' | 'replace';
  readonly profile: Profile;
}

/**
 * The canonical resource of a POST or PUT body (RFC 7644 sections 3.3 and 3.5.1), without `id` and `meta`, which
 * the server sets, without `password`, which is thrown away, and without group members: see `membersOf`.
 * @throws 400 invalidSyntax when the body is no object, 400 invalidValue when a value breaks its schema.
 */
export function parseResource(type: ResourceType, body: unknown, context: BodyContext): Resource {
  if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
  checkBody(body);
  const { profile } = context;
  checkSchemas(type, body, profile);
  const draft: JsonObject = {};
  for (const key of Object.keys(body)) {
    const field = findField(type.core.fields, key);
    if (!field) readForeignKey(type, key, body[key], draft, profile);
    else if (!isLeftOut(type, field)) draft[field.name] = readValue(field, body[key], profile);
  }
  const resource = toCanonical(type, draft);
  type.check(resource);
  return resource;
}
