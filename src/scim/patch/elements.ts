// Applies PATCH to multi-valued attributes: add, replace, remove, and changes of elements that a filter selects.
import type { Field } from '../attributes.ts';
import { noTarget } from '../errors.ts';
import { evaluateFilter, requiredValues } from '../filter/evaluate.ts';
import type { Filter } from '../filter/filter.ts';
import { foldPart, identity, isEqual, type JsonObject } from '../json.ts';
import type { Profile } from '../profiles.ts';
import { orderParts } from '../resource-type.ts';
import { fromElements, readElement, readElements, readValue } from '../values.ts';
import type { PatchOperation } from './operation.ts';

interface Change {
  readonly op: PatchOperation['op'];
  readonly field: Field;
  readonly filter: Filter | undefined;
  readonly sub: Field | undefined;
  readonly value: unknown;
  readonly profile: Profile;
}

function toElements(field: Field, current: unknown): JsonObject[] {
  if (!Array.isArray(current)) return [];
  if (field.attribute.type === 'complex') return current as JsonObject[];
  return (current as unknown[]).map((value) => ({ value }));
}

function order(field: Field, element: JsonObject): JsonObject | undefined {
  return field.parts && orderParts(field.parts, element);
}

/** Returns whether a removal lists the element: by `value` (and `type` if given), otherwise by all given members. */
export function isListed(field: Field, element: JsonObject, listed: JsonObject): boolean {
  const names = listed.value === undefined ? Object.keys(listed) : ['value'];
  if (listed.value !== undefined && listed.type !== undefined) names.push('type');
  return names.every((name) => isEqual(field.parts?.byName.get(name), element[name], listed[name]));
}

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
  return elements.filter(
    (element) => !isHit(element, foldPart(field, 'value', element.value)) && !isHit(element, undefined),
  );
}

// Keeps one primary element: the one that the operation set (RFC 7644 §3.5.2).
function onePrimary(elements: readonly JsonObject[], touched: ReadonlySet<JsonObject>): JsonObject[] {
  const newest = elements.findLast((element) => touched.has(element) && element.primary === true);
  return elements.map((element) =>
    newest && element !== newest && element.primary === true ? { ...element, primary: false } : element,
  );
}

function append(field: Field, elements: readonly JsonObject[], added: readonly JsonObject[]): JsonObject[] {
  const result = [...elements];
  const places = new Map(result.map((element, index) => [identity(field, element), index]));
  const touched = new Set<JsonObject>();
  for (const element of added) {
    const place = places.get(identity(field, element));
    const merged =
      place === undefined ? element : (order(field, { ...result[place], ...element }) ?? element);
    if (place === undefined) places.set(identity(field, element), result.push(merged) - 1);
    else result[place] = merged;
    // An element that is sent without `primary` and was primary before does not count as newly set.
    if (element.primary === true) touched.add(merged);
  }
  return onePrimary(result, touched);
}

function isUnassigned(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

// Removes a sub-attribute. An element with nothing but `type` or `primary` left is removed.
function withoutPart(field: Field, element: JsonObject, sub: Field): JsonObject | undefined {
  const rest = order(field, { ...element, [sub.name]: undefined });
  if (!rest || sub.name === 'value') return undefined;
  return Object.keys(rest).some((name) => name !== 'type' && name !== 'primary') ? rest : undefined;
}

function single(change: Change): unknown {
  const { value, profile } = change;
  const isListOfOne = Array.isArray(value) && value.length === 1 && profile.allows('list-for-single');
  return isListOfOne ? (value as unknown[])[0] : value;
}

function changed(change: Change, element: JsonObject): JsonObject | undefined {
  const { op, field, filter, sub, profile } = change;
  if (sub) {
    const value = op === 'remove' ? undefined : readValue(sub, single(change), profile);
    if (value === undefined) return withoutPart(field, element, sub);
    return order(field, { ...element, [sub.name]: value });
  }
  if (op === 'remove') return undefined;
  const given = readElement(field, single(change), profile);
  if (op === 'add') return order(field, { ...element, ...given });
  if (!given) return undefined;
  // Replaces the element (RFC 7644 §3.5.2.3) and keeps the values that the filter requires, so that it still matches.
  return order(field, { ...startOf(filter), ...given });
}

function startOf(filter: Filter | undefined): JsonObject {
  return filter ? Object.fromEntries(requiredValues(filter).map(({ name, value }) => [name, value])) : {};
}

// `auto` does not know the provider. A replace of a canonical type that the schema names (work, home) sets the value; a
// replace of another type is refused because the value is not there (RFC 7644 §3.5.2.3).
function isUsual(field: Field, filter: Filter, profile: Profile): boolean {
  if (profile.name !== 'auto') return true;
  return requiredValues(filter).every(({ name, value }) => {
    const usual = field.parts?.byName.get(name)?.attribute.canonicalValues;
    return usual === undefined || usual.some((each) => each.toLowerCase() === String(value).toLowerCase());
  });
}

function create(change: Change, elements: readonly JsonObject[]): JsonObject[] {
  const { op, field, filter, sub, value, profile } = change;
  if (isUnassigned(value)) return [...elements];
  if (op === 'replace' && filter && !(isUsual(field, filter, profile) && profile.allows('replace-creates'))) {
    throw noTarget(`No value of "${field.path}" matches the filter.`);
  }
  const start = startOf(filter);
  if (filter && !evaluateFilter(filter, start)) {
    throw noTarget(`No value of "${field.path}" matches, and the filter does not say how to make one.`);
  }
  const given = sub
    ? { [sub.name]: readValue(sub, single(change), profile) }
    : readElement(field, single(change), profile);
  const element = order(field, { ...start, ...given });
  return element ? append(field, elements, [element]) : [...elements];
}

function select(change: Change, elements: readonly JsonObject[]): JsonObject[] {
  const { op, filter } = change;
  const selected = elements.filter((element) => !filter || evaluateFilter(filter, element));
  if (selected.length === 0) return op === 'remove' ? [...elements] : create(change, elements);
  const touched = new Set<JsonObject>();
  const chosen = new Set(selected);
  const result: JsonObject[] = [];
  for (const element of elements) {
    const next = chosen.has(element) ? changed(change, element) : element;
    if (!next) continue;
    if (next !== element) touched.add(next);
    result.push(next);
  }
  return onePrimary(result, touched);
}

function whole(change: Change, elements: readonly JsonObject[]): JsonObject[] {
  const { op, field, value, profile } = change;
  if (op === 'remove' && value === undefined) return [];
  // A single object in `add` is allowed by RFC 7644 §3.5.2.1 ("a new value"), so it is no deviation.
  const isOne = op === 'add' && value !== null && value !== undefined && !Array.isArray(value);
  const given = readElements(field, isOne ? [value] : value, profile);
  if (op === 'add') return append(field, elements, given);
  if (op === 'replace') return given;
  return withoutListed(field, elements, given);
}

/** Returns the new value of a multi-valued attribute; undefined when it is empty. `current` is not modified. */
export function changeElements(change: Change, current: unknown): unknown[] | undefined {
  const { field, filter, sub } = change;
  const elements = toElements(field, current);
  return fromElements(field, filter || sub ? select(change, elements) : whole(change, elements));
}
