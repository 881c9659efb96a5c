// Reading JSON that somebody else wrote: own members only, every type checked, refusals say which member.
import { Problem } from './problem.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** True for a JSON object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member `name` of the object itself; names of the prototype chain read as absent. */
export function own(source: JsonObject, name: string): unknown {
  return Object.hasOwn(source, name) ? source[name] : undefined;
}

/** The value as an object, or 400 `invalidSyntax`. */
export function requireObject(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw new Problem(400, `${what} must be a JSON object`, 'invalidSyntax');
  return value;
}

/** A member that must be text with something in it, or 400 `invalidValue`. */
export function requireText(source: JsonObject, name: string): string {
  const value = own(source, name);
  if (typeof value !== 'string' || value.trim() === '')
    throw new Problem(400, `${name} is required`, 'invalidValue');
  return value;
}

/** An optional text member; null and absence read as null, anything else than text is 400 `invalidValue`. */
export function optionalText(source: JsonObject, name: string): string | null {
  const value = own(source, name);
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new Problem(400, `${name} must be text`, 'invalidValue');
  return value;
}

/** An optional true or false; null and absence read as undefined, anything else is 400. */
export function optionalBoolean(source: JsonObject, name: string): boolean | undefined {
  const value = own(source, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw new Problem(400, `${name} must be true or false`, 'invalidValue');
  return value;
}

/** An optional list of texts; null and absence read as undefined, anything else is 400. */
export function optionalTexts(source: JsonObject, name: string): string[] | undefined {
  const value = own(source, name);
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw new Problem(400, `${name} must be a list of texts`, 'invalidValue');
  return value.map((item: unknown) => {
    if (typeof item !== 'string') throw new Problem(400, `${name} must be a list of texts`, 'invalidValue');
    return item;
  });
}

/** An optional list of objects, empty when absent; anything else is 400. */
export function objectList(source: JsonObject, name: string): JsonObject[] {
  const value = own(source, name) ?? [];
  if (!Array.isArray(value)) throw new Problem(400, `${name} must be a list`, 'invalidValue');
  return value.map((item: unknown) => requireObject(item, `every entry of ${name}`));
}
