// Encodes the state of the sandbox as JSON and decodes it: Map, Set, bigint and special numbers are tagged.
import { isJsonObject } from '../json.ts';

/** Property that holds the tag of a value, as in `{"$": "set", "value": [1]}`; a plain object with this property is wrapped. */
const TAG = '$';

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns the value as JSON. @throws for functions and class instances */
export function encode(value: unknown): unknown {
  if (typeof value === 'bigint') return { [TAG]: 'bigint', value: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { [TAG]: 'number', value: String(value) };
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new Error(`A ${typeof value} cannot be saved`);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(encode);
  if (value instanceof Map) return { [TAG]: 'map', value: [...value].map(encode) };
  if (value instanceof Set) return { [TAG]: 'set', value: [...value].map(encode) };
  if (!isPlain(value)) throw new Error(`A ${value.constructor.name} cannot be saved`);
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, encode(member)]));
  return Object.hasOwn(value, TAG) ? { [TAG]: 'object', value: members } : members;
}

function decodeTagged(tag: unknown, value: unknown): unknown {
  if (tag === 'bigint') return BigInt(String(value));
  if (tag === 'number') return Number(value);
  if (tag === 'map')
    return new Map((value as [unknown, unknown][]).map((entry) => decode(entry) as [unknown, unknown]));
  if (tag === 'set') return new Set((value as unknown[]).map(decode));
  if (tag === 'object' && isJsonObject(value)) return decodeMembers(value);
  throw new Error(`Unknown tag ${String(tag)}`);
}

function decodeMembers(value: object): unknown {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, decode(member)]));
}

/** Returns the value that `encode` received; throws for an unknown tag. */
export function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (!isJsonObject(value)) return value;
  return Object.hasOwn(value, TAG) ? decodeTagged(value[TAG], value['value']) : decodeMembers(value);
}
