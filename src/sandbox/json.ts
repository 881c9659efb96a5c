// Reads properties of untrusted JSON: own properties only, with type checks; errors name the property.
import { SandboxProblem } from './problem.ts';

export type SandboxJsonObject = Readonly<Record<string, unknown>>;

/** Text of a whole number from 0 that JavaScript represents exactly. */
export const WHOLE_NUMBER = /^\d{1,15}$/;

/** Returns true for a JSON object (not an array, not null). */
export function isJsonObject(value: unknown): value is SandboxJsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an own property; names of the prototype chain are absent. */
export function own<T>(source: Readonly<Record<string, T>>, name: string): T | undefined {
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

/**
 * Returns an optional property; null and absence give null.
 * @throws 400 `invalidValue` for a value that `is` refuses; the error says that it must be `form`
 */
export function optionalOf<T>(
  source: SandboxJsonObject,
  name: string,
  is: (value: unknown) => value is T,
  form: string,
): T | null {
  const value = own(source, name) ?? null;
  if (value !== null && !is(value)) throw new SandboxProblem(400, `${name} must be ${form}`, 'invalidValue');
  return value;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

// The next three functions return an optional property. Null counts as absent; a value of another type is 400 `invalidValue`.
export const textOrNull = (source: SandboxJsonObject, name: string): string | null =>
  optionalOf(source, name, isText, 'text');
export const optionalBoolean = (source: SandboxJsonObject, name: string): boolean | undefined =>
  optionalOf(source, name, isFlag, 'true or false') ?? undefined;
export const optionalTexts = (source: SandboxJsonObject, name: string): string[] | undefined =>
  optionalOf(source, name, isTexts, 'a list of texts') ?? undefined;

/** Returns an optional list of objects, empty when absent; other types are 400. */
export function objectList(source: SandboxJsonObject, name: string): SandboxJsonObject[] {
  const value = own(source, name) ?? [];
  if (!Array.isArray(value)) throw new SandboxProblem(400, `${name} must be a list`, 'invalidValue');
  return value.map((item: unknown) => requireObject(item, `every entry of ${name}`));
}
