// Which attributes an answer shows: `attributes` and `excludedAttributes` against `returned` (RFC 7644 section 3.9).
import { resolveAttribute } from './attribute-path.ts';
import type { Field } from './attributes.ts';
import type { Resource, ResourceType } from './resource-type.ts';

/** Names of one level: chosen as a whole (`true`), or some of what is in it. */
type Names = Map<string, true | Names>;

export interface Projection {
  /** `only`: what `attributes` listed. `except`: what `excludedAttributes` listed. */
  readonly mode: 'only' | 'except';
  readonly names: ReadonlyMap<string, true | Names>;
}

// The Entra validator sends attributes=emails[type eq "work"]; a comma inside brackets or quotes parts nothing.
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

function withoutFilter(item: string): string {
  const open = item.indexOf('[');
  const rest = open < 0 ? '' : item.slice(item.lastIndexOf(']') + 1);
  return (open < 0 ? item : item.slice(0, open) + rest).trim();
}

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

function stepsOf(type: ResourceType, item: string): readonly string[] {
  const found = resolveAttribute(type, item);
  if (found.kind === 'section') return found.section.core ? [] : [found.section.urn];
  if (found.kind === 'member') return [found.section.urn, found.name];
  if (found.kind !== 'attribute') return [];
  const steps = found.section.core ? [found.field.name] : [found.section.urn, found.field.name];
  return found.sub ? [...steps, found.sub.name] : steps;
}

/**
 * Reads the two parameters; `attributes` wins when both are given. Names that no schema declares select nothing
 * (a misspelt one is no error). Undefined means the default answer, which needs no work.
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

/** Whether the answer shows the attribute at all; if not, it need not be loaded. */
export function wants(projection: Projection | undefined, name: 'members' | 'groups'): boolean {
  if (!projection) return true;
  const chosen = projection.names.get(name);
  return projection.mode === 'only' ? chosen !== undefined : chosen !== true;
}

function pick(value: unknown, names: Names, mode: Projection['mode']): unknown {
  if (Array.isArray(value)) return value.map((item) => pick(item, names, mode));
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const chosen = names.get(key);
    if (chosen === undefined ? mode === 'except' : mode === 'only') {
      result[key] = chosen instanceof Map ? pick(item, chosen, mode) : item;
    } else if (chosen instanceof Map) result[key] = pick(item, chosen, mode);
  }
  return result;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isEmpty);
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isShown(field: Field | undefined, projection: Projection | undefined): boolean {
  const chosen = field && projection?.names.get(field.name);
  switch (field?.attribute.returned) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'request':
      return projection?.mode === 'only' && chosen !== undefined;
    case 'default':
    case undefined:
      if (!projection) return true;
      return projection.mode === 'only' ? chosen !== undefined : chosen !== true;
  }
}

/**
 * The resource as the answer shows it. `id` and `schemas` always stay; what is returned never does not, what is
 * returned on request needs `attributes` to name it. Without a projection and nothing to hide, the same object.
 */
export function project(
  type: ResourceType,
  resource: Resource,
  projection: Projection | undefined,
): Record<string, unknown> {
  const { byName } = type.core.fields;
  if (!projection && Object.keys(resource).every((key) => isShown(byName.get(key), undefined)))
    return resource;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(resource)) {
    const field = byName.get(key);
    const chosen = projection?.names.get(key);
    const visible = field || !projection ? isShown(field, projection) : isSectionShown(projection, chosen);
    if (!visible) continue;
    const always = field?.attribute.returned === 'always';
    const shown =
      projection && chosen instanceof Map && !always ? pick(value, chosen, projection.mode) : value;
    if (shown === value || !isEmpty(shown)) result[key] = shown;
  }
  return result;
}

function isSectionShown(projection: Projection, chosen: true | Names | undefined): boolean {
  return projection.mode === 'only' ? chosen !== undefined : chosen !== true;
}
