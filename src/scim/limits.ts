// Limits of length: what of a resource is too long to be stored.
import { invalidValue, type ScimError } from './errors.ts';
import { isObject, type JsonObject } from './json.ts';
import type { Resource } from './resource-type.ts';

export interface LengthLimits {
  /** UTF-8 bytes of one text. */
  readonly valueBytes: number;
  /** Characters of userName, displayName, externalId and the value of a group member. */
  readonly nameCharacters: number;
  /** UTF-8 bytes of a resource as JSON text, without the members of a group. */
  readonly resourceBytes: number;
}

const NAMES = ['userName', 'displayName', 'externalId'];
/** UTF-8 bytes that one UTF-16 code unit takes at most. */
const MOST_BYTES = 3;

const isLongName = (value: unknown, { nameCharacters: most }: LengthLimits): boolean =>
  typeof value === 'string' && value.length > most && [...value].length > most;

const isLongText = (text: string, most: number): boolean =>
  text.length * MOST_BYTES > most && (text.length > most || Buffer.byteLength(text) > most);

const tooLong = (path: string, most: number, unit: string): ScimError =>
  invalidValue(`Attribute "${path}" is longer than ${most} ${unit}.`);

/**
 * Refuses what is too long to be stored. A value that was stored before, when another limit held, does not keep the rest
 * of its resource from being changed.
 * @param text canonical JSON of the resource
 * @throws 400 invalidValue that names the attribute
 */
export function checkLengths(
  resource: Resource,
  text: string,
  limits: LengthLimits,
  before?: Resource,
): void {
  for (const name of NAMES) {
    const value = resource[name];
    if (isLongName(value, limits) && value !== before?.[name])
      throw tooLong(name, limits.nameCharacters, 'characters');
  }
  // A short text holds no long value.
  if (isLongText(text, limits.valueBytes)) checkValues(resource, '', limits.valueBytes, before);
  if (!isLongText(text, limits.resourceBytes)) return;
  const bytes = Buffer.byteLength(text);
  if (before && bytes <= Buffer.byteLength(JSON.stringify(before))) return;
  const largest = Object.keys(resource).reduce((a, b) =>
    sizeOf(resource[a]) >= sizeOf(resource[b]) ? a : b,
  );
  throw invalidValue(
    `The resource has ${bytes} bytes, more than ${limits.resourceBytes}; most of it is in "${largest}".`,
  );
}

/** @throws 400 invalidValue when the value of a group member is too long to be anybody's id, externalId or userName */
export function checkMemberLengths(values: Iterable<string>, limits: LengthLimits): void {
  for (const value of values)
    if (isLongName(value, limits)) throw tooLong('members.value', limits.nameCharacters, 'characters');
}

function checkValues(value: unknown, path: string, most: number, before: unknown): void {
  if (typeof value === 'string') {
    if (isLongText(value, most) && value !== before) throw tooLong(path, most, 'bytes');
  } else if (Array.isArray(value)) {
    const earlier = Array.isArray(before) ? (before as unknown[]) : [];
    for (const [index, item] of value.entries()) checkValues(item, path, most, earlier[index]);
  } else if (isObject(value)) {
    const earlier: JsonObject = isObject(before) ? before : {};
    for (const key of Object.keys(value)) checkValues(value[key], below(path, key), most, earlier[key]);
  }
}

/** The name of an extension ends with the colon that stands between it and its attributes. */
function below(path: string, key: string): string {
  if (path === '') return key.includes(':') ? `${key}:` : key;
  return path.endsWith(':') ? path + key : `${path}.${key}`;
}

const sizeOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);
