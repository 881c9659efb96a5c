// Reads properties of untrusted JSON: own properties only, with type checks; errors name the property.
import { SandboxProblem } from './problem.ts';

export type SandboxJsonObject = Readonly<Record<string, unknown>>;

/** Returns true for a JSON object (not an array, not null). */
export function isJsonObject(value: unknown): value is SandboxJsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an own property; names of the prototype chain are absent. */
export function own(source: SandboxJsonObject, name: string): unknown {
  return Object.hasOwn(source, name) ? source[name] : undefined;
}

/** Returns the value as an object. @throws 400 `invalidSyntax` */
export function requireObject(value: unknown, what: string): SandboxJsonObject {
  if (!isJsonObject(value)) throw new SandboxProblem(400, `${what} must be a JSON object`, 'invalidSyntax');
  return value;
}

/** Returns a property that must be non-empty text. @throws 400 `invalidValue` */
export function requireText(source: SandboxJsonObject, name: string): string {
  const value = own(source, name);
  if (typeof value !== 'string' || value.trim() === '')
    throw new SandboxProblem(400, `${name} is required`, 'invalidValue');
  return value;
}

/** Returns an optional text property; null and absence give null, other types are 400 `invalidValue`. */
export function textOrNull(source: SandboxJsonObject, name: string): string | null {
  const value = own(source, name);
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new SandboxProblem(400, `${name} must be text`, 'invalidValue');
  return value;
}

/** Returns an optional boolean; null and absence give undefined, other types are 400. */
export function optionalBoolean(source: SandboxJsonObject, name: string): boolean | undefined {
  const value = own(source, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean')
    throw new SandboxProblem(400, `${name} must be true or false`, 'invalidValue');
  return value;
}

/** Returns an optional list of texts; null and absence give undefined, other types are 400. */
export function optionalTexts(source: SandboxJsonObject, name: string): string[] | undefined {
  const value = own(source, name);
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw new SandboxProblem(400, `${name} must be a list of texts`, 'invalidValue');
  return value.map((item: unknown) => {
    if (typeof item !== 'string')
      throw new SandboxProblem(400, `${name} must be a list of texts`, 'invalidValue');
    return item;
  });
}

/** Returns an optional list of objects, empty when absent; other types are 400. */
export function objectList(source: SandboxJsonObject, name: string): SandboxJsonObject[] {
  const value = own(source, name) ?? [];
  if (!Array.isArray(value)) throw new SandboxProblem(400, `${name} must be a list`, 'invalidValue');
  return value.map((item: unknown) => requireObject(item, `every entry of ${name}`));
}
