// Reads properties of untrusted JSON: own properties only, with type checks; errors name the property.
import { Problem } from './problem.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns true for a JSON object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an own property; names of the prototype chain are absent. */
export function own(source: JsonObject, name: string): unknown {
  return Object.hasOwn(source, name) ? source[name] : undefined;
}

/** Returns the value as an object. @throws 400 `invalidSyntax` */
export function requireObject(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw new Problem(400, `${what} must be a JSON object`, 'invalidSyntax');
  return value;
}

/** Returns a property that must be non-empty text. @throws 400 `invalidValue` */
export function requireText(source: JsonObject, name: string): string {
  const value = own(source, name);
  if (typeof value !== 'string' || value.trim() === '')
    throw new Problem(400, `${name} is required`, 'invalidValue');
  return value;
}

/** Returns an optional text property; null and absence give null, other types are 400 `invalidValue`. */
export function optionalText(source: JsonObject, name: string): string | null {
  const value = own(source, name);
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new Problem(400, `${name} must be text`, 'invalidValue');
  return value;
}

/** Returns an optional boolean; null and absence give undefined, other types are 400. */
export function optionalBoolean(source: JsonObject, name: string): boolean | undefined {
  const value = own(source, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw new Problem(400, `${name} must be true or false`, 'invalidValue');
  return value;
}

/** Returns an optional list of texts; null and absence give undefined, other types are 400. */
export function optionalTexts(source: JsonObject, name: string): string[] | undefined {
  const value = own(source, name);
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw new Problem(400, `${name} must be a list of texts`, 'invalidValue');
  return value.map((item: unknown) => {
    if (typeof item !== 'string') throw new Problem(400, `${name} must be a list of texts`, 'invalidValue');
    return item;
  });
}

/** Returns an optional list of objects, empty when absent; other types are 400. */
export function objectList(source: JsonObject, name: string): JsonObject[] {
  const value = own(source, name) ?? [];
  if (!Array.isArray(value)) throw new Problem(400, `${name} must be a list`, 'invalidValue');
  return value.map((item: unknown) => requireObject(item, `every entry of ${name}`));
}
