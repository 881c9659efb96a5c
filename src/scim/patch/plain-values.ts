// Recognises PATCHes that only replace plain values such as active, title or displayName. A Lua script replaces these values
// in the stored text, which saves reading and parsing the resource (ADR 0018).
import type { Field } from '../attributes.ts';
import { hasControl, NAMES } from '../names.ts';
import type { ResourceType } from '../resource-type.ts';
import type { PatchOperation } from './operation.ts';

/** Names of plain attributes (`Section.plain`) with their new values. */
export type PlainValues = ReadonlyMap<string, string | boolean>;

/** Largest number of operations: more of them are faster on the parsed resource. */
const MOST_OPERATIONS = 4;
/** Longest value; longer values need the length checks of the whole resource (`checkLengths`). */
const MOST_CHARACTERS = 256;
/** Attributes with index entries. The displayName of a group has them too, but `takesAnything` excludes it as `required`. */
const IDENTIFIERS = new Set(['userName', 'externalId']);

/**
 * Returns whether the schema accepts every value of the attribute's type, and no index entry depends on the value. Length and
 * control characters are checked separately.
 */
const takesAnything = ({ name, attribute }: Field): boolean =>
  (attribute.type === 'string' || attribute.type === 'boolean') &&
  attribute.mutability === 'readWrite' &&
  !attribute.required &&
  !IDENTIFIERS.has(name);

/**
 * Returns the new values if all operations replace plain values, undefined otherwise. The result is valid only for a
 * resource that has a value for each of the attributes; `applyPatch` handles all other cases.
 */
export function plainValues(
  { core }: ResourceType,
  operations: readonly PatchOperation[],
): PlainValues | undefined {
  if (operations.length === 0 || operations.length > MOST_OPERATIONS) return undefined;
  const values = new Map<string, string | boolean>();
  for (const { op, target, value } of operations) {
    if (op === 'remove' || target.kind !== 'attribute' || target.section !== core) return undefined;
    const { field, filter, sub } = target;
    if (filter || sub || !core.plain.has(field.name) || !takesAnything(field)) return undefined;
    if (typeof value !== field.attribute.type || String(value).length > MOST_CHARACTERS) return undefined;
    // The validator of the whole resource creates the error.
    if (NAMES.has(field.name) && hasControl(value as string)) return undefined;
    values.set(field.name, value as string | boolean);
  }
  return values;
}
