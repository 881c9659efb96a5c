// Reads values of a resource by a PATCH path, for the attribute mappings in the settings.
import { invalidPath } from './errors.ts';
import { evaluateFilter } from './filter/evaluate.ts';
import { ownValue, toList } from './json.ts';
import { parsePath } from './path.ts';
import { profileOf } from './profiles.ts';
import type { Resource, ResourceType } from './resource-type.ts';

// An element of a simple list is its own `value`.
const partOf = (element: unknown, part: string): unknown =>
  typeof element === 'object' || part !== 'value' ? ownValue(element, part) : element;

/**
 * Compiles a path such as `addresses[type eq "work"].country` or `urn:…:UserAttribute:clearance` to a function that
 * returns all values at the path. A complex element without sub-attribute counts as its `value`.
 * @throws 400 invalidPath when the path is malformed or no schema declares the attribute, 400 invalidFilter for its filter
 */
export function readPath(type: ResourceType, text: string): (resource: Resource) => unknown[] {
  // `lenient`: the settings may name an attribute of an extension without its URN.
  const target = parsePath(type, text, profileOf('lenient'));
  if (target.kind === 'unknown') throw invalidPath(`No schema declares "${text}".`);
  const { section } = target;
  const holderOf = (resource: Resource): unknown =>
    section.core ? resource : ownValue(resource, section.urn);
  if (target.kind === 'section') return (resource) => toList(holderOf(resource));
  if (target.kind === 'member') return (resource) => toList(ownValue(holderOf(resource), target.name));
  const { field, filter, sub } = target;
  const part = sub?.name ?? (field.parts ? 'value' : undefined);
  return (resource) => {
    const elements = toList(ownValue(holderOf(resource), field.name));
    const chosen = filter ? elements.filter((element) => evaluateFilter(filter, element)) : elements;
    return part === undefined ? chosen : chosen.flatMap((element) => toList(partOf(element, part)));
  };
}
