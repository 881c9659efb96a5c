// Converts values of a request to their canonical form: types, unassigned values, one primary (RFC 7643 §2). `readValue` reads an
// attribute: a multi-valued one by its elements (`readElements`, `fromElements`), a complex one by its sub-attributes
// (`readParts`), any other as one simple value (`readScalar`). `readOpen` reads an attribute that an open extension does not
// declare.
import type { Field, Fields, Section } from './attributes.ts';
import { orderParts, findField } from './resource-type.ts';
import { invalidValue } from './errors.ts';
import { identity, isNumberText, isObject, type JsonObject } from './json.ts';
import { notA } from './constraints.ts';
import type { Profile } from './profiles.ts';

/** Largest number of values of one attribute. It bounds the time of comparing the values with each other. */
const MAX_VALUES = 1000;

/** Converts a value of a declared attribute to its canonical form; undefined: no value. @throws 400 invalidValue */
export function readValue(field: Field, raw: unknown, profile: Profile): unknown {
  if (field.keepsText && typeof raw === 'string') return raw;
  if (raw === null || raw === undefined) return undefined;
  // An empty externalId is dropped: stored, it would conflict with the next empty one.
  if (raw === '' && field.path === 'externalId' && profile.allows('empty-reference')) return undefined;
  if (meansNoValue(field, raw, profile)) return undefined;
  if (field.attribute.multiValued) return fromElements(field, readElements(field, raw, profile));
  if (field.attribute.type !== 'complex') {
    if (isObject(raw) && Object.hasOwn(raw, 'value') && profile.allows('wrapped-value'))
      return readValue(field, raw.value, profile);
    if (!Array.isArray(raw)) return readScalar(field, raw, profile);
    if (raw.length === 0) return undefined;
    if (raw.length > 1 || !profile.allows('list-for-single')) throw notA(field, 'a single value');
    return readValue(field, raw[0], profile);
  }
  const input = toComplexInput(field, raw, profile);
  if (!input || !field.parts) return undefined;
  if (isStored(field.parts, input)) return settleComplex(field, input, profile, { isOrdered: true });
  const parts: JsonObject = {};
  readParts(field, input, parts, profile);
  return settleComplex(field, parts, profile);
}

/** Returns a complex value in schema order; undefined when it has no sub-attribute, or is a reference with an empty `value`. */
export function settleComplex(
  field: Field,
  parts: JsonObject,
  profile: Profile,
  { isOrdered = false } = {},
): JsonObject | undefined {
  if (!field.parts) return undefined;
  if (parts.value === '' && field.isReference && profile.allows('empty-reference')) return undefined;
  return isOrdered ? parts : orderParts(field.parts, parts);
}

// Returns whether empty text means "no value", as for a date. For `active` it does not, because a user without `active` is
// active.
function meansNoValue({ attribute, path }: Field, raw: unknown, profile: Profile): boolean {
  if (raw !== '' || attribute.multiValued || path === 'active') return false;
  return TYPES_WITHOUT_EMPTY_TEXT.has(attribute.type) && profile.allows('empty-scalar');
}

const TYPES_WITHOUT_EMPTY_TEXT = new Set(['boolean', 'decimal', 'integer', 'dateTime']);

/** Converts a simple value to the type of the attribute. @throws 400 invalidValue */
function readScalar(field: Field, raw: unknown, profile: Profile): string | number | boolean {
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
  if (typeof raw === 'string' && isNumberText(raw) && profile.allows('string-numbers')) value = Number(raw);
  if (isExact(value) && (!integer || Number.isInteger(value))) return value;
  const kind = integer ? 'an integer' : 'a number';
  // RFC 8259 §6: larger integers are not exact in every implementation.
  throw notA(field, Number.isNaN(value) || isExact(value) ? kind : `${kind} of at most 2^53 - 1`);
}

/** Returns whether a parsed JSON number is exact: an integer beyond 2^53 has lost digits. */
const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

/** Converts the value of a multi-valued attribute to elements. A single value is accepted if the profile allows it. */
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

/** Converts an element of a multi-valued attribute to an object, a simple one to `{value}`; undefined: no value. */
export function readElement(field: Field, raw: unknown, profile: Profile): JsonObject | undefined {
  if (raw === null || raw === undefined) return undefined;
  if (field.attribute.type !== 'complex') {
    // Some providers send elements of simple lists as {"value": …}.
    return {
      value: readScalar(field, isObject(raw) && Object.hasOwn(raw, 'value') ? raw.value : raw, profile),
    };
  }
  if (Array.isArray(raw)) throw notA(field, 'a list of objects');
  const input = toComplexInput(field, raw, profile);
  if (!input || !field.parts) return undefined;
  if (isStored(field.parts, input)) return input;
  const element: JsonObject = {};
  readParts(field, input, element, profile);
  return orderParts(field.parts, element);
}

/**
 * Returns the stored form of a list; undefined when it is empty. Of complex elements, each pair of value and canonical type
 * occurs once, and only the last primary element stays primary (RFC 7643 §2.4). @throws 400 invalidValue above MAX_VALUES
 */
export function fromElements(field: Field, elements: readonly JsonObject[]): unknown[] | undefined {
  if (elements.length === 0) return undefined;
  checkCount(field.path, elements.length);
  if (field.attribute.type !== 'complex') return elements.map((element) => element.value);
  const unique = distinct(field, elements);
  const newest = unique.findLastIndex((element) => element.primary === true);
  if (unique.findIndex((element) => element.primary === true) === newest) return [...unique];
  return unique.map((element, index) =>
    element.primary === true && index !== newest ? { ...element, primary: false } : element,
  );
}

/** Merges elements with the same identity. */
function distinct(field: Field, elements: readonly JsonObject[]): readonly JsonObject[] {
  const { parts } = field;
  if (!parts || elements.length < 2) return elements;
  const found = new Map<string, JsonObject>();
  for (const element of elements) {
    const key = identity(field, element);
    const same = found.get(key);
    found.set(key, (same && orderParts(parts, { ...same, ...element })) ?? element);
  }
  return found.size === elements.length ? elements : [...found.values()];
}

/** @throws 400 invalidValue above MAX_VALUES */
export function checkCount(path: string, count: number): void {
  if (count > MAX_VALUES) throw invalidValue(`Attribute "${path}" may have at most ${MAX_VALUES} values.`);
}

/** Converts the value of a complex attribute to an object; undefined: no value. @throws 400 invalidValue */
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

// Converts `{"$ref": …}` and OneLogin's `{"managerId": …}` to `value`.
function withValue(field: Field, raw: JsonObject, profile: Profile): JsonObject {
  if (!field.isReference || Object.hasOwn(raw, 'value')) return raw;
  if (typeof raw.$ref === 'string' && profile.allows('reference-for-value')) {
    return { ...raw, value: lastSegment(raw.$ref) };
  }
  if (field.name === 'manager' && Object.hasOwn(raw, 'managerId') && profile.allows('manager-id')) {
    return { value: raw.managerId };
  }
  return raw;
}

/** Returns the identifier at the end of a resource address; `''` when there is none. */
export function lastSegment(address: string): string {
  const path = address.split(/[?#]/, 1)[0] ?? '';
  const segment = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    // A percent sign that encodes nothing belongs to the identifier.
    return segment;
  }
}

/** Writes the sub-attributes of `raw` to `target`. Null removes a value. Unknown and readOnly sub-attributes are ignored. */
export function readParts(field: Field, raw: JsonObject, target: JsonObject, profile: Profile): void {
  const parts = field.parts;
  if (!parts) throw notA(field, 'a simple value');
  for (const key of Object.keys(raw)) {
    const part = findField(parts, key);
    // `allows` only counts the deviation here.
    if (!part) profile.allows('unknown-attribute');
    else if (part.attribute.mutability !== 'readOnly') target[part.name] = readPart(part, raw[key], profile);
  }
}

function readPart(part: Field, raw: unknown, profile: Profile): unknown {
  if (part.keepsText && typeof raw === 'string') return raw;
  if (raw === null || raw === undefined || meansNoValue(part, raw, profile)) return undefined;
  return readScalar(part, raw, profile);
}

/** Returns whether the object is canonical already: not empty, all values stored unchanged, and the keys in schema order. */
export function isStored(fields: Fields, raw: JsonObject): boolean {
  let last = -1;
  for (const name of Object.keys(raw)) {
    const field = fields.byName.get(name);
    if (!field || field.name !== name || field.place <= last || !staysAsSent(field, raw[name])) return false;
    last = field.place;
  }
  return last >= 0;
}

/** Returns whether the value is stored unchanged under every profile. */
function staysAsSent({ attribute, keepsText }: Field, raw: unknown): boolean {
  if (attribute.mutability === 'readOnly') return false;
  if (typeof raw === 'string') return keepsText;
  return typeof raw === 'boolean' && attribute.type === 'boolean' && !attribute.multiValued;
}

/** Converts a value of an undeclared member of an open schema. Values keep their JSON type. @throws 400 invalidValue */
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

/** @throws 400 invalidValue for a number that has lost digits */
function checkNumber(section: Section, name: string, raw: unknown): void {
  if (typeof raw !== 'number' || isExact(raw)) return;
  throw invalidValue(`Attribute "${section.urn}:${name}" has more digits than a number can keep.`);
}
