// Converts mapped values to the type of the platform's attribute. Pure.
import type { AttributeValue, UserAttributeType } from '../../platform/wire.ts';

/** `absent`: the value at the platform is not changed. `clear`: the value is removed. */
export type MappedValue =
  | { kind: 'value'; value: AttributeValue }
  | { kind: 'absent' }
  | { kind: 'clear' }
  | { kind: 'invalid'; reason: string };

/** A converted single value. */
type Scalar = { kind: 'value'; value: string | number | boolean } | { kind: 'invalid'; reason: string };

/** Returns the fault of a value that has no form in the wanted type. */
const invalid = (wanted: string, raw: unknown): Scalar => ({
  kind: 'invalid',
  reason: `is ${Array.isArray(raw) ? 'a list' : typeof raw} and cannot become ${wanted}`,
});

/** Converts a single value to a type. */
function toScalar(type: 'string' | 'number' | 'boolean', raw: unknown): Scalar {
  switch (type) {
    case 'string':
      if (typeof raw === 'string') return { kind: 'value', value: raw };
      if (typeof raw === 'number' || typeof raw === 'boolean') return { kind: 'value', value: String(raw) };
      return invalid('text', raw);
    case 'number': {
      const value = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
      return typeof value === 'number' && Number.isFinite(value)
        ? { kind: 'value', value }
        : invalid('a number', raw);
    }
    case 'boolean': {
      const text = typeof raw === 'string' ? raw.toLowerCase() : raw;
      if (text === true || text === 'true') return { kind: 'value', value: true };
      if (text === false || text === 'false') return { kind: 'value', value: false };
      return invalid('true or false', raw);
    }
  }
}

/**
 * Converts a raw value to the type of an attribute. Undefined is `absent` unless `onEmpty` is `clear`; null is `clear`. For a list
 * type, an empty list is a value, and a scalar becomes a list with one element. For a single type, a list of one element counts as
 * this element, and an empty list as undefined.
 */
export function toAttributeValue(
  type: UserAttributeType,
  raw: unknown,
  onEmpty: 'keep' | 'clear',
): MappedValue {
  const withoutValue: MappedValue = { kind: onEmpty === 'clear' ? 'clear' : 'absent' };
  if (raw === undefined) return withoutValue;
  if (raw === null) return { kind: 'clear' };
  if (type === 'string' || type === 'number' || type === 'boolean') {
    const single: unknown = Array.isArray(raw) && raw.length === 1 ? raw[0] : raw;
    // An empty list has no value for a single attribute.
    if (Array.isArray(single) && single.length === 0) return withoutValue;
    return toScalar(type, single);
  }
  const values: (string | number | boolean)[] = [];
  for (const element of Array.isArray(raw) ? (raw as unknown[]) : [raw]) {
    const scalar = toScalar(type === 'string_array' ? 'string' : 'number', element);
    if (scalar.kind === 'invalid') return scalar;
    values.push(scalar.value);
  }
  return { kind: 'value', value: values as string[] | number[] };
}

/**
 * A list whose order has no meaning, because its rule reads the groups of a person. It equals each list of the same elements, so
 * that a value that was written in another order is not written again.
 */
export class UnorderedList extends Array<string | number> {}

/** Returns whether two attribute values are equal; undefined equals null. */
export function sameValue(left: unknown, right: unknown): boolean {
  const isUnordered = left instanceof UnorderedList || right instanceof UnorderedList;
  const textOf = (value: unknown): string =>
    JSON.stringify(isUnordered && Array.isArray(value) ? [...(value as unknown[])].sort() : (value ?? null));
  return textOf(left) === textOf(right);
}
