// Resolves `sortBy` to a sort key and compares keys (RFC 7644 §3.4.2.3).
import { resolveAttribute, stepsTo, type AttributePath } from './attribute-path.ts';
import type { Field } from './attributes.ts';
import { excerpt, invalidValue } from './errors.ts';
import { foldCase, ownValue } from './json.ts';
import type { Profile } from './profiles.ts';
import type { ResourceType } from './resource-type.ts';

/** Sort key of a resource; undefined when the resource has no value. */
export type SortKey = string | number | boolean | undefined;

export interface Sort {
  keyOf(resource: unknown): SortKey;
}

/** Longest sort key, because the keys of all resources are in memory at once. Longer values are cut. */
const KEY_CHARACTERS = 256;

/** Sort by an unknown attribute: all resources keep the order of creation. */
const UNSORTED: Sort = { keyOf: () => undefined };

const refused = (sortBy: string, why: string): Error =>
  invalidValue(`"sortBy" cannot be "${excerpt(sortBy)}": ${why}.`);

/**
 * Resolves `sortBy`. A complex attribute counts as its `value`; one without `value` needs a sub-attribute. An unknown attribute
 * sorts nothing if the profile accepts unknown names.
 * @throws 400 invalidValue for any other name: invalidPath is for the path of a PATCH only (RFC 7644 §3.12, table 9)
 */
export function parseSort(type: ResourceType, sortBy: string, profile: Profile): Sort {
  const found = resolveAttribute(type, sortBy.trim());
  if (found.kind === 'malformed') throw refused(sortBy, 'it is not in attribute notation');
  if (found.kind === 'section') throw refused(sortBy, 'it is a schema');
  // An undeclared member of an open extension has no definition, so its texts are compared case-sensitively.
  if (found.kind === 'member') {
    const steps = [found.section.urn, found.name];
    return { keyOf: (resource) => toKey(valueAt(resource, steps), undefined) };
  }
  if (found.kind === 'unknown' || isHidden(found, profile)) {
    if (profile.allows('unknown-attribute')) return UNSORTED;
    throw refused(sortBy, 'no schema declares it');
  }
  const { section, field } = found;
  const leaf = found.sub ?? (field.attribute.type === 'complex' ? field.parts?.byName.get('value') : field);
  if (!leaf || leaf.attribute.type === 'complex')
    throw refused(sortBy, 'it is complex, name a sub-attribute');
  const steps = stepsTo(section, field, leaf === field ? undefined : leaf);
  return { keyOf: (resource) => toKey(valueAt(resource, steps), leaf) };
}

/**
 * Returns whether sortBy must not find the attribute. No answer shows an attribute with `returned: never`, so the order of a
 * list must not reveal it. Under some profiles an attribute of an extension needs its URN.
 */
function isHidden(found: AttributePath & { kind: 'attribute' }, profile: Profile): boolean {
  if (found.field.attribute.returned === 'never' || found.sub?.attribute.returned === 'never') return true;
  return found.unqualified && !profile.allows('unqualified-extension');
}

/** Returns the value at a path. A list counts as its primary or first element, a simple element as its `value`. */
function valueAt(node: unknown, steps: readonly string[]): unknown {
  let value = mainElement(node);
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return step === 'value' ? value : undefined;
    value = mainElement(ownValue(value, step));
  }
  return value;
}

function mainElement(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const elements = value as unknown[];
  return elements.find((each) => (each as { primary?: unknown } | null)?.primary === true) ?? elements[0];
}

function toKey(value: unknown, field: Field | undefined): SortKey {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'string' || value === '') return undefined;
  if (field?.attribute.type === 'dateTime') {
    const time = Date.parse(value);
    return Number.isNaN(time) ? undefined : time;
  }
  const key = !field || field.attribute.caseExact ? value : foldCase(value);
  // V8 keeps the whole text in memory for a slice of it, so the slice is copied.
  return key.length <= KEY_CHARACTERS ? key : Buffer.from(key.slice(0, KEY_CHARACTERS)).toString();
}

/**
 * Compares two keys for ascending order; resources without value come last. Text is compared by code units, without a
 * locale. Keys of different types are ordered numbers, text, booleans.
 */
export function compareKeys(a: SortKey, b: SortKey): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  if (typeof a !== typeof b) return rank(a) - rank(b);
  return a < b ? -1 : 1;
}

const rank = (key: SortKey): number => ['number', 'string', 'boolean'].indexOf(typeof key);
