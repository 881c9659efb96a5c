// Finds and replaces references of the form `bulkId:…` in bulk operations (RFC 7644 §3.7.2).
import { isObject, type JsonObject } from './json.ts';

const PREFIX = 'bulkId:';
/** `bulkId:x` alone, or at the end of a resource address as in `$ref`. */
const REFERENCE = /^(?<address>\S*\/(?:Users|Groups)\/)?bulkId:(?<name>.+)$/s;
/** Nesting limit of the search; deeper data is refused by the validation. */
const MAX_DEPTH = 40;

/** Returns the bulkId and the address before it, `''` for none; undefined for text without a bulkId. */
function parse(text: string): { address: string; name: string } | undefined {
  const groups = text.includes(PREFIX) ? REFERENCE.exec(text)?.groups : undefined;
  return groups?.name === undefined ? undefined : { address: groups.address ?? '', name: groups.name };
}

/** Returns the bulkId of a text; undefined when it has none. */
export const referenceIn = (text: string): string | undefined => parse(text)?.name;

/** Returns all bulkIds in a JSON value. */
export function referencesIn(value: unknown): Set<string> {
  const found = new Set<string>();
  someReference(value, (name) => {
    found.add(name);
    return false;
  });
  return found;
}

/** Returns whether `test` is true for any bulkId in a JSON value. */
function someReference(value: unknown, test: (name: string) => boolean, depth = 0): boolean {
  if (typeof value === 'string') {
    const name = referenceIn(value);
    return name !== undefined && test(name);
  }
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.some((part) => someReference(part, test, depth + 1));
  return Object.values(value).some((part) => someReference(part, test, depth + 1));
}

/** Returns a copy with known bulkIds replaced by ids. */
export function replaceReferences(value: unknown, ids: ReadonlyMap<string, string>, depth = 0): unknown {
  if (typeof value === 'string') {
    const reference = parse(value);
    const id = reference && ids.get(reference.name);
    return id === undefined ? value : reference?.address + id;
  }
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((part) => replaceReferences(part, ids, depth + 1));
  // `fromEntries` copies a key named `__proto__`; an assignment would set the prototype instead.
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, replaceReferences(part, ids, depth + 1)]),
  );
}

/**
 * Splits a new resource into the part that can be stored now and the part that waits for bulkIds: list elements such as members,
 * and complex attributes such as manager. Returns undefined when a simple value waits, because the attribute may be required;
 * the last bulkId for which `isPending` was true is then in that value.
 * @param isPending returns whether the resource of a bulkId is not created yet
 */
export function postpone(
  data: unknown,
  isPending: (name: string) => boolean,
): { now: JsonObject; later: JsonObject } | undefined {
  if (!isObject(data)) return undefined;
  const waits = (value: unknown): boolean => someReference(value, isPending);
  const now: [string, unknown][] = [];
  const later: [string, unknown][] = [];
  for (const [key, value] of Object.entries(data)) {
    if (Array.isArray(value)) {
      const [ready, waiting] = partition(value as unknown[], waits);
      now.push([key, ready]);
      if (waiting.length > 0) later.push([key, waiting]);
    } else if (!waits(value)) now.push([key, value]);
    else if (!isObject(value)) return undefined;
    else if (key.includes(':')) {
      // An extension is split too: its attributes that wait for a bulkId are written later, the others now.
      const parts = postpone(value, isPending);
      if (!parts) return undefined;
      now.push([key, parts.now]);
      later.push([key, parts.later]);
    } else later.push([key, value]);
  }
  return { now: Object.fromEntries(now), later: Object.fromEntries(later) };
}

function partition(list: readonly unknown[], waits: (value: unknown) => boolean): [unknown[], unknown[]] {
  const ready: unknown[] = [];
  const waiting: unknown[] = [];
  for (const element of list) {
    if (waits(element)) waiting.push(element);
    else ready.push(element);
  }
  return [ready, waiting];
}
