// Selects the attributes of an answer by `attributes`, `excludedAttributes` and `returned` (RFC 7644 §3.9). `parseProjection` makes
// a tree of names from the two parameters. `project` goes through a resource. For each attribute, its entry in the tree (`chosen`)
// and its characteristic `returned` decide whether it is shown (`isShown`); `partsOf` then selects its sub-attributes.
import { resolveAttribute, stepsTo } from './attribute-path.ts';
import type { Field, Section } from './attributes.ts';
import type { Resource, ResourceType } from './resource-type.ts';

/** Names of one level. `true`: the whole attribute; otherwise the names of its sub-attributes. */
type Names = Map<string, true | Names>;
/** The entry of an attribute in a projection; undefined: the client does not name it. */
type Chosen = true | Names | undefined;

export interface Projection {
  /** `only`: names come from `attributes`. `except`: names come from `excludedAttributes`. */
  readonly mode: 'only' | 'except';
  readonly names: ReadonlyMap<string, true | Names>;
}

/**
 * Parses the two parameters; `attributes` wins when both are given. Unknown names select nothing. Returns undefined when
 * both are empty, which means the default attributes.
 */
export function parseProjection(
  type: ResourceType,
  query: { attributes?: string | undefined; excludedAttributes?: string | undefined },
): Projection | undefined {
  const only = splitList(query.attributes ?? '');
  const list = only.length > 0 ? only : splitList(query.excludedAttributes ?? '');
  if (list.length === 0) return undefined;
  const names: Names = new Map();
  for (const item of list) add(names, stepsOf(type, item));
  return { mode: only.length > 0 ? 'only' : 'except', names };
}

// Splits a list of names at commas outside of brackets and quotes: Entra's validator sends emails[type eq "work"].
function splitList(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let quoted = false;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '[') depth++;
    else if (character === ']') depth--;
    else if (character === ',' && depth <= 0) {
      items.push(text.slice(start, index));
      start = index + 1;
    }
  }
  items.push(text.slice(start));
  return items.map(withoutFilter).filter((item) => item !== '');
}

/** Removes a value filter: `emails[type eq "work"].value` becomes `emails.value`. */
function withoutFilter(item: string): string {
  const open = item.indexOf('[');
  const rest = open < 0 ? '' : item.slice(item.lastIndexOf(']') + 1);
  return (open < 0 ? item : item.slice(0, open) + rest).trim();
}

/** Returns the keys that lead to the named value; none for a name that selects nothing. */
function stepsOf(type: ResourceType, item: string): readonly string[] {
  const found = resolveAttribute(type, item);
  if (found.kind === 'section') return found.section.core ? [] : [found.section.urn];
  if (found.kind === 'member') return [found.section.urn, found.name];
  if (found.kind !== 'attribute') return [];
  return stepsTo(found.section, found.field, found.sub);
}

/** Adds a path to the names. A whole attribute that was added before includes its sub-attributes. */
function add(names: Names, steps: readonly string[]): void {
  const [first, ...rest] = steps;
  if (first === undefined || names.get(first) === true) return;
  if (rest.length === 0) {
    names.set(first, true);
    return;
  }
  const inner = names.get(first) ?? new Map<string, true | Names>();
  names.set(first, inner);
  if (inner !== true) add(inner, rest);
}

/**
 * Returns the resource with the selected attributes. `id` and `schemas` are always included, `returned: never` is never.
 * Returns the same object when nothing has to be removed.
 */
export function project(
  type: ResourceType,
  resource: Resource,
  projection: Projection | undefined,
): Record<string, unknown> {
  const { byName } = type.core.fields;
  const isWhole =
    !projection &&
    !type.hasRequestOnly &&
    Object.keys(resource).every((key) => isShown(byName.get(key), undefined, undefined));
  if (isWhole) return resource;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(resource)) {
    const field = byName.get(key);
    const section = field ? undefined : type.sections.find(({ urn }) => urn === key);
    const chosen = projection?.names.get(key);
    if (!section && !isShown(field, chosen, projection)) continue;
    const shown = section
      ? projectSection(section, value as Record<string, unknown>, projection)
      : partsOf(value, field, chosen, projection);
    if (shown === value || !isEmpty(shown)) result[key] = shown;
  }
  return result;
}

/** Selects the attributes of an extension. */
function projectSection(
  section: Section,
  members: Record<string, unknown>,
  projection: Projection | undefined,
): Record<string, unknown> {
  // `true`: the URN was named without an attribute. A map: attributes of the extension were named.
  const entry = projection?.names.get(section.urn);
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    const field = section.fields.byName.get(name);
    const chosen = entry instanceof Map ? entry.get(name) : entry;
    // A URN alone selects the attributes that are returned by default. An attribute with `returned: request` is shown only
    // when its own name is given.
    const named = field?.attribute.returned === 'request' && entry === true ? undefined : chosen;
    if (!isShown(field, named, projection)) continue;
    const shown = partsOf(value, field, chosen, projection);
    // An attribute of which no selected part has a value is left out.
    if (shown === value || !isEmpty(shown)) result[name] = shown;
  }
  return result;
}

/** Returns whether the answer shows `members` or `groups`, which are stored apart from the resource and loaded only if shown. */
export function wants(projection: Projection | undefined, name: 'members' | 'groups'): boolean {
  return isSelected(projection?.names.get(name), projection);
}

/** Returns whether the answer contains an attribute. */
function isShown(field: Field | undefined, chosen: Chosen, projection: Projection | undefined): boolean {
  switch (field?.attribute.returned) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'request':
      return projection?.mode === 'only' && chosen !== undefined;
    case 'default':
    case undefined:
      return isSelected(chosen, projection);
  }
}

/** Returns whether a projection leaves an attribute in an answer, at least a part of it. */
function isSelected(chosen: Chosen, projection: Projection | undefined): boolean {
  return projection?.mode === 'only' ? chosen !== undefined : chosen !== true;
}

/** Returns the selected sub-attributes of a value; all of them when none was named, or the attribute is always returned. */
function partsOf(
  value: unknown,
  field: Field | undefined,
  chosen: Chosen,
  projection: Projection | undefined,
) {
  const isPicked = projection && chosen instanceof Map && field?.attribute.returned !== 'always';
  return isPicked ? pick(value, chosen, projection.mode) : value;
}

/** Returns a value with the selected sub-attributes; of a list, each element. */
function pick(value: unknown, names: Names, mode: Projection['mode']): unknown {
  if (Array.isArray(value)) return value.map((item) => pick(item, names, mode));
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const chosen = names.get(key);
    const isKept = mode === 'only' ? chosen === true : chosen === undefined;
    if (chosen instanceof Map) result[key] = pick(item, chosen, mode);
    else if (isKept) result[key] = item;
  }
  return result;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isEmpty);
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
