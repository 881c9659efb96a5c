// Compares two values as their attribute does, and as elements of one list (RFC 7643 §2.4).
import type { Field } from './attributes.ts';
import { foldCase } from './fold-case.ts';
import type { JsonObject } from './json.ts';

/** Equality as the attribute sees it: with or without case. */
export function isEqual(field: Field | undefined, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (field?.attribute.caseExact !== false || typeof a !== 'string' || typeof b !== 'string') return false;
  return foldCase(a) === foldCase(b);
}

/** The form in which a sub-attribute's values can be looked up. */
export function foldPart(field: Field, part: string, value: unknown): unknown {
  const exact = field.parts?.byName.get(part)?.attribute.caseExact !== false;
  return exact || typeof value !== 'string' ? value : foldCase(value);
}

/**
 * The key of an element: its value and canonical type; without a value, the whole element. Text, so that lists of any length
 * are compared in one pass.
 */
export function identity(field: Field, element: JsonObject): string {
  if (element.value === undefined) return JSON.stringify(element);
  const value = foldPart(field, 'value', element.value);
  const type = foldPart(field, 'type', element.type);
  // Most of them are two texts; the length keeps them apart as well as quotes would, for less.
  if (typeof value === 'string' && typeof type === 'string') return `${type.length} ${type} ${value}`;
  return JSON.stringify([value, type]);
}
