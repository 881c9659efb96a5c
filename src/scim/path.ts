// Parses the path of a PATCH operation: `attr`, `attr.sub`, `attr[filter]`, `attr[filter].sub`, each with or without a
// URN, or a URN alone (RFC 7644 §3.5.2, figure 7).
import { resolveAttribute, type AttributePath } from './attribute-path.ts';
import type { Field, Section } from './attributes.ts';
import { toCurrentUrn, findField, type ResourceType } from './resource-type.ts';
import { excerpt, invalidPath } from './errors.ts';
import type { Filter } from './filter/filter.ts';
import { parseElementFilter } from './filter/parser.ts';
import type { Profile } from './profiles.ts';

/** Values of a declared attribute. */
export interface AttributeTarget {
  readonly kind: 'attribute';
  readonly section: Section;
  readonly field: Field;
  /** Selects elements of a multi-valued attribute; undefined: all of them. */
  readonly filter: Filter | undefined;
  /** The only sub-attribute that is meant; undefined: the whole values. */
  readonly sub: Field | undefined;
}

export type PatchTarget =
  | AttributeTarget
  /** An undeclared member of an open extension. */
  | { readonly kind: 'member'; readonly section: Section; readonly name: string }
  /** A URN alone: the whole extension, or the whole resource for the core URN. */
  | { readonly kind: 'section'; readonly section: Section }
  /** Well formed, but no schema declares it. */
  | { readonly kind: 'unknown' };

const MAX_LENGTH = 4096;
/** Form of a value filter behind an unknown attribute. Its content cannot be checked, because its sub-attributes are unknown. */
const VALUE_FILTER = /^\[\s*[A-Za-z(][^]*\](\.[A-Za-z$_][A-Za-z0-9$_-]*)?$/;

function malformed(text: string): Error {
  return invalidPath(`"${excerpt(text)}" is not a valid path.`);
}

function toTarget(found: AttributePath, text: string, profile: Profile): PatchTarget {
  if (found.kind === 'malformed') throw malformed(text);
  if (found.kind !== 'attribute') return found;
  if (found.unqualified && !profile.allows('unqualified-extension')) return { kind: 'unknown' };
  return { kind: 'attribute', section: found.section, field: found.field, filter: undefined, sub: found.sub };
}

/**
 * Resolves a path, ignoring case.
 * @throws 400 invalidPath when it is not well formed, 400 invalidFilter when its filter is not.
 */
export function parsePath(type: ResourceType, text: string, profile: Profile): PatchTarget {
  if (text.length > MAX_LENGTH) throw invalidPath(`The path is longer than ${MAX_LENGTH} characters.`);
  const trimmed = toCurrentUrn(type, text.trim(), profile);
  const bracket = trimmed.indexOf('[');
  if (bracket < 0) return toTarget(resolveAttribute(type, trimmed), trimmed, profile);
  const target = toTarget(resolveAttribute(type, trimmed.slice(0, bracket)), trimmed, profile);
  if (target.kind === 'unknown') {
    if (!VALUE_FILTER.test(trimmed.slice(bracket))) throw malformed(trimmed);
    return target;
  }
  if (
    target.kind !== 'attribute' ||
    target.sub ||
    !target.field.parts ||
    !target.field.attribute.multiValued
  ) {
    throw invalidPath(`"${trimmed.slice(0, bracket)}" has no elements to select.`);
  }
  const { filter, end } = parseElementFilter(target.field.parts, trimmed, bracket, profile);
  const rest = trimmed.slice(end);
  if (rest === '') return { ...target, filter };
  if (!/^\.[A-Za-z$_][A-Za-z0-9$_-]*$/.test(rest)) throw malformed(trimmed);
  const sub = findField(target.field.parts, rest.slice(1));
  return sub ? { ...target, filter, sub } : { kind: 'unknown' };
}
