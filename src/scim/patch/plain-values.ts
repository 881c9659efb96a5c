// Most pushes put plain values of the core schema in the place of others: active, title, displayName. That can be done where
// the text is stored; reading and parsing the resource for it costs more than everything else that a change does.
import type { Field } from '../attributes.ts';
import { hasControl, NAMES } from '../names.ts';
import type { ResourceType } from '../resource-type.ts';
import type { PatchOperation } from './operation.ts';

/** Names of plain attributes (`Section.plain`) with their new values. */
export type PlainValues = ReadonlyMap<string, string | boolean>;

/** More of them are done faster in the parsed resource. */
const MOST_OPERATIONS = 4;
/** Longer ones are looked at with the resource that they are to be part of (limits.ts). */
const MOST_CHARACTERS = 256;
/** Attributes with index entries. */
const IDENTIFIERS = new Set(['userName', 'externalId']);

/** Whether any value of the type may stand there, as it was sent. */
const takesAnything = ({ name, attribute }: Field): boolean =>
  (attribute.type === 'string' || attribute.type === 'boolean') &&
  attribute.mutability === 'readWrite' &&
  !attribute.required &&
  !IDENTIFIERS.has(name);

/**
 * The result of the operations for a resource that has a value for each of these attributes already; undefined when they do
 * more than replace plain values. `applyPatch` gives the same result for all other operations.
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
    // The judge of the whole resource says why not.
    if (NAMES.has(field.name) && hasControl(value as string)) return undefined;
    values.set(field.name, value as string | boolean);
  }
  return values;
}
