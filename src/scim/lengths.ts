// Checks the lengths of a resource: its names in characters, each of its texts in bytes, and the whole resource in bytes. A value
// that is already stored passes, so that a lower limit does not block other changes of the resource.
import { invalidValue, type ScimError } from './errors.ts';
import { NAMES } from './names.ts';
import { isObject, type JsonObject } from './json.ts';

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
  // A text below the limit of a value cannot contain a longer value.
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
