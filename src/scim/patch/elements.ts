// Applies PATCH to multi-valued attributes (`changeElements`). An operation without filter and sub-attribute changes the list as a
// whole (`changeList`): adds elements, replaces all, or removes those that the value lists. Any other operation changes the
// elements that the filter selects, or all (`changeSelected`); if it finds none, it may add one that satisfies the filter
// (`addElement`).
import type { Field } from '../attributes.ts';
import { noTarget } from '../errors.ts';
import { evaluateFilter, requiredValues } from '../filter/evaluate.ts';
import { selectInSteps, sizeOf } from '../filter/evaluate-in-steps.ts';
import type { Filter } from '../filter/filter.ts';
import { foldPart, identity, isEqual, type JsonObject } from '../json.ts';
import type { Profile } from '../profiles.ts';
import { orderParts } from '../resource-type.ts';
import { fromElements, readElement, readElements, readValue } from '../values.ts';
import type { Comparisons } from './comparisons.ts';
import { comparesList, type PatchOperation } from './operation.ts';

/** One PATCH operation on a multi-valued attribute: its operation, the parts of its path, and its value. */
interface Change {
  readonly op: PatchOperation['op'];
  readonly field: Field;
  readonly filter: Filter | undefined;
  readonly sub: Field | undefined;
  readonly value: unknown;
  readonly profile: Profile;
}

/**
 * Returns the new value of a multi-valued attribute; undefined when it is empty. `current` is not modified. Yields after every few
 * comparisons.
 */
export function* changeElements(
  change: Change,
  current: unknown,
  comparisons: Comparisons,
): Generator<undefined, unknown[] | undefined> {
  const { field, filter, sub } = change;
  const elements = toElements(field, current);
  const selects = filter !== undefined || sub !== undefined;
  if (selects || comparesList(change)) comparisons.count(sizeOf(elements), filter);
  const changed = selects ? yield* changeSelected(change, elements) : changeList(change, elements);
  return fromElements(field, changed);
}

/** Changes the list without selecting elements. */
function changeList(change: Change, elements: readonly JsonObject[]): JsonObject[] {
  const { op, field, value, profile } = change;
  if (op === 'remove' && value === undefined) return [];
  // A single object in `add` is allowed by RFC 7644 §3.5.2.1 ("a new value"), so it is no deviation.
  const isOne = op === 'add' && value !== null && value !== undefined && !Array.isArray(value);
  const given = readElements(field, isOne ? [value] : value, profile);
  if (op === 'add') return append(field, elements, given);
  if (op === 'replace') return given;
  return withoutListed(field, elements, given);
}

/** Changes the elements that the filter selects, or all elements without a filter. */
function* changeSelected(
  change: Change,
  elements: readonly JsonObject[],
): Generator<undefined, JsonObject[]> {
  const { op, filter } = change;
  const chosen = new Set(filter ? yield* selectInSteps(filter, elements, (element) => element) : elements);
  if (chosen.size === 0) return op === 'remove' ? [...elements] : addElement(change, elements);
  const touched = new Set<JsonObject>();
  const result: JsonObject[] = [];
  for (const element of elements) {
    const next = chosen.has(element) ? changeElement(change, element) : element;
    if (!next) continue;
    if (next !== element) touched.add(next);
    result.push(next);
  }
  return onePrimary(result, touched);
}

/** Returns an element after the operation; undefined when it is removed. */
function changeElement(change: Change, element: JsonObject): JsonObject | undefined {
  const { op, field, filter, sub, profile } = change;
  if (sub) {
    const value = op === 'remove' ? undefined : readValue(sub, singleValue(change), profile);
    if (value === undefined) return withoutPart(field, element, sub);
    return orderElement(field, { ...element, [sub.name]: value });
  }
  if (op === 'remove') return undefined;
  const given = readElement(field, singleValue(change), profile);
  if (op === 'add') return orderElement(field, { ...element, ...given });
  if (!given) return undefined;
  // Replaces the element (RFC 7644 §3.5.2.3) and keeps the values that the filter requires, so that it still matches.
  return orderElement(field, { ...requiredMembers(filter), ...given });
}

/**
 * Adds an element when no element was selected.
 * @throws 400 noTarget when a replace must not create it, or the filter does not say which element to create
 */
function addElement(change: Change, elements: readonly JsonObject[]): JsonObject[] {
  const { op, field, filter, sub, value, profile } = change;
  if (isUnassigned(value)) return [...elements];
  const mayCreate =
    op !== 'replace' || !filter || (isCanonical(field, filter, profile) && profile.allows('replace-creates'));
  if (!mayCreate) {
    throw noTarget(`No value of "${field.path}" matches the filter.`);
  }
  const start = requiredMembers(filter);
  // The new element starts with the values of the filter's equalities. If these do not satisfy the filter, nothing is created.
  if (filter && !evaluateFilter(filter, start)) {
    throw noTarget(`No value of "${field.path}" matches, and the filter does not say which value to create.`);
  }
  const given = sub
    ? { [sub.name]: readValue(sub, singleValue(change), profile) }
    : readElement(field, singleValue(change), profile);
  const element = orderElement(field, { ...start, ...given });
  return element ? append(field, elements, [element]) : [...elements];
}

function isUnassigned(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

// Returns whether a replace may create an element with the values of the filter. Under `auto` the provider is unknown, so where
// the schema has canonical values, such as the types work and home, a replace with another value is refused, because no element
// matches (RFC 7644 §3.5.2.3). Other profiles have no such limit.
function isCanonical(field: Field, filter: Filter, profile: Profile): boolean {
  if (profile.name !== 'auto') return true;
  return requiredValues(filter).every(({ name, value }) => {
    const canonical = field.parts?.byName.get(name)?.attribute.canonicalValues;
    return (
      canonical === undefined || canonical.some((each) => each.toLowerCase() === String(value).toLowerCase())
    );
  });
}

/** Returns the values of the filter's equalities, which an element needs to match: `{type: "work"}` for `type eq "work"`. */
function requiredMembers(filter: Filter | undefined): JsonObject {
  return filter ? Object.fromEntries(requiredValues(filter).map(({ name, value }) => [name, value])) : {};
}

/** Returns the value of the operation. If that is a list with one item, and the profile allows such a list, returns the item. */
function singleValue(change: Change): unknown {
  const { value, profile } = change;
  const isListOfOne = Array.isArray(value) && value.length === 1 && profile.allows('list-for-single');
  return isListOfOne ? (value as unknown[])[0] : value;
}

// Returns the element without a sub-attribute. Undefined: the whole element is removed, because the sub-attribute is `value`, or
// because at most `type` and `primary` would be left.
function withoutPart(field: Field, element: JsonObject, sub: Field): JsonObject | undefined {
  const rest = orderElement(field, { ...element, [sub.name]: undefined });
  if (!rest || sub.name === 'value') return undefined;
  return Object.keys(rest).some((name) => name !== 'type' && name !== 'primary') ? rest : undefined;
}

/** Adds elements to a list. An element with the identity of an existing one is merged into it. */
function append(field: Field, elements: readonly JsonObject[], added: readonly JsonObject[]): JsonObject[] {
  const result = [...elements];
  const places = new Map(result.map((element, index) => [identity(field, element), index]));
  const touched = new Set<JsonObject>();
  for (const element of added) {
    const key = identity(field, element);
    const place = places.get(key);
    let merged = element;
    if (place === undefined) {
      places.set(key, result.length);
      result.push(element);
    } else {
      merged = orderElement(field, { ...result[place], ...element }) ?? element;
      result[place] = merged;
    }
    // An element that is sent without `primary` and was primary before does not count as newly set.
    if (element.primary === true) touched.add(merged);
  }
  return onePrimary(result, touched);
}

// Keeps one primary element: the last one that the operation made primary (RFC 7644 §3.5.2).
function onePrimary(elements: readonly JsonObject[], touched: ReadonlySet<JsonObject>): JsonObject[] {
  const newest = elements.findLast((element) => touched.has(element) && element.primary === true);
  return elements.map((element) =>
    newest && element !== newest && element.primary === true ? { ...element, primary: false } : element,
  );
}

/** Returns the elements that no entry of `listed` identifies (`isListed`), in one pass, because both lists may be long. */
function withoutListed(
  field: Field,
  elements: readonly JsonObject[],
  listed: readonly JsonObject[],
): JsonObject[] {
  const byValue = new Map<unknown, JsonObject[]>();
  for (const each of listed) {
    const key = foldPart(field, 'value', each.value);
    const same = byValue.get(key);
    if (same) same.push(each);
    else byValue.set(key, [each]);
  }
  const isHit = (element: JsonObject, key: unknown): boolean =>
    byValue.get(key)?.some((each) => isListed(field, element, each)) ?? false;
  // Listed elements without `value` are under the key undefined, so each element is compared with these too.
  return elements.filter(
    (element) => !isHit(element, foldPart(field, 'value', element.value)) && !isHit(element, undefined),
  );
}

/** Returns whether `listed` identifies the element: by `value`, and by `type` if given; without `value` by all its keys. */
export function isListed(field: Field, element: JsonObject, listed: JsonObject): boolean {
  const names = listed.value === undefined ? Object.keys(listed) : ['value'];
  if (listed.value !== undefined && listed.type !== undefined) names.push('type');
  return names.every((name) => isEqual(field.parts?.byName.get(name), element[name], listed[name]));
}

/** Returns the current list as objects; a simple value becomes `{value}`. */
function toElements(field: Field, current: unknown): JsonObject[] {
  if (!Array.isArray(current)) return [];
  if (field.attribute.type === 'complex') return current as JsonObject[];
  return (current as unknown[]).map((value) => ({ value }));
}

function orderElement(field: Field, element: JsonObject): JsonObject | undefined {
  return field.parts && orderParts(field.parts, element);
}
