// Defines the five types of user attributes: valid JSON values and defaults written as text (contract 3.1, 3.2).
import { isJsonObject } from '../json.ts';
import type {
  AttributeDefinition,
  SandboxAttributeType,
  StoredAttributeValue,
  UserRecord,
} from '../records.ts';

export const ATTRIBUTE_TYPES: readonly SandboxAttributeType[] = [
  'string',
  'number',
  'boolean',
  'string_array',
  'number_array',
];

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const FITS: Readonly<Record<SandboxAttributeType, (value: unknown) => boolean>> = {
  string: isText,
  number: isNumber,
  boolean: (value) => typeof value === 'boolean',
  string_array: (value) => Array.isArray(value) && value.every(isText),
  number_array: (value) => Array.isArray(value) && value.every(isNumber),
};

/** Returns whether the value fits one of the types. */
export const isAttributeValue = (value: unknown): value is StoredAttributeValue =>
  ATTRIBUTE_TYPES.some((type) => FITS[type](value));

/** Returns the unchanged value, or undefined when it does not fit the type (ASSUMED-42). */
export function fitValue(type: SandboxAttributeType, value: unknown): StoredAttributeValue | undefined {
  if (!FITS[type](value)) return undefined;
  return value as StoredAttributeValue;
}

/** Returns a number from text such as "42" or "-1.5", or undefined (ASSUMED-23). */
export function numberFromText(text: string): number | undefined {
  const number = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** Parses text, such as a default, as the type; booleans and lists are JSON. Undefined if it does not fit (ASSUMED-39). */
export function valueFromText(type: SandboxAttributeType, text: string): StoredAttributeValue | undefined {
  if (type === 'string') return text;
  if (type === 'number') return numberFromText(text);
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? undefined : fitValue(type, parsed);
  } catch {
    // Text that is not JSON does not fit a boolean or a list.
    return undefined;
  }
}

/** Returns the value that policies see: the stored value, else the default in its type, else null (ASSUMED-45). */
export function effectiveValue(
  definition: AttributeDefinition,
  stored: StoredAttributeValue | undefined,
): StoredAttributeValue | null {
  if (stored !== undefined) return stored;
  if (definition.defaultValue === null) return null;
  return valueFromText(definition.type, definition.defaultValue) ?? null;
}

/** Returns a copy of `values` with the value of one definition set; undefined clears the value. */
export function withValue(
  values: UserRecord['values'],
  definitionId: number,
  value: StoredAttributeValue | undefined,
): UserRecord['values'] {
  const next = new Map(values);
  if (value === undefined) next.delete(definitionId);
  else next.set(definitionId, value);
  return next;
}
