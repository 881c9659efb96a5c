// Resolves attribute notation `[URN:]attribute[.subAttribute]` (RFC 7644 §3.10). One URN may begin with another, so the longest URN
// of the resource type that fits counts.
import type { Field, Fields, Section } from './attributes.ts';
import { isMemberName } from './json.ts';
import { findField, findUnqualified, type PlacedField, type ResourceType } from './resource-type.ts';

export type AttributePath =
  /** A URN alone. */
  | { readonly kind: 'section'; readonly section: Section }
  | {
      readonly kind: 'attribute';
      readonly section: Section;
      readonly field: Field;
      /** Sub-attribute; undefined when the attribute itself is named. */
      readonly sub: Field | undefined;
      /** An attribute of an extension was named without its URN. */
      readonly unqualified: boolean;
    }
  /** An undeclared member of an open extension. */
  | { readonly kind: 'member'; readonly section: Section; readonly name: string }
  /** Well formed, but no schema declares it. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'malformed' };

const NAME = /^[A-Za-z$_][A-Za-z0-9$_-]*$/;
const UNKNOWN: AttributePath = { kind: 'unknown' };
const MALFORMED: AttributePath = { kind: 'malformed' };

/** Resolves an attribute name without value filter. Does not throw, because callers create different SCIM errors. */
export function resolveAttribute(type: ResourceType, text: string): AttributePath {
  if (!text.includes(':')) return resolveIn(type, type.core, text);
  const lower = text.toLowerCase();
  // Longest URN first; `key` is the URN in lower case.
  for (const section of type.byUrn) {
    if (!lower.startsWith(section.key)) continue;
    if (text.length === section.urn.length) return { kind: 'section', section };
    if (text[section.urn.length] !== ':') continue;
    return resolveIn(type, section, text.slice(section.urn.length + 1), { isQualified: true });
  }
  // No schema has the URN of this name.
  return /^[A-Za-z]/.test(text) && !/\s/.test(text) ? UNKNOWN : MALFORMED;
}

/** Resolves a name in one schema; a name without URN (not `isQualified`) also in the extensions. */
function resolveIn(
  type: ResourceType,
  section: Section,
  text: string,
  { isQualified = false } = {},
): AttributePath {
  if (section.schema.open) return resolveOpen(section, text);
  const dot = text.indexOf('.');
  const name = dot < 0 ? text : text.slice(0, dot);
  const subName = dot < 0 ? undefined : text.slice(dot + 1);
  if (!NAME.test(name) || (subName !== undefined && !NAME.test(subName))) return MALFORMED;
  const fieldHere = findField(section.fields, name);
  let found: PlacedField | undefined;
  if (fieldHere) found = { section, field: fieldHere };
  else if (!isQualified) found = findUnqualified(type, name);
  if (!found) return UNKNOWN;
  const sub = subName === undefined ? undefined : findSub(found.field.parts, subName);
  if (subName !== undefined && !sub) return UNKNOWN;
  return { kind: 'attribute', ...found, sub, unqualified: !fieldHere };
}

function findSub(parts: Fields | undefined, name: string): Field | undefined {
  return parts && findField(parts, name);
}

// A member name may contain dots, so the whole rest of the text is the name.
function resolveOpen(section: Section, text: string): AttributePath {
  const field = findField(section.fields, text);
  if (field) return { kind: 'attribute', section, field, sub: undefined, unqualified: false };
  return isMemberName(text) ? { kind: 'member', section, name: text } : MALFORMED;
}

/** Returns the names that lead from a resource to an attribute or sub-attribute. */
export function stepsTo(section: Section, field: Field, sub?: Field): string[] {
  const steps = section.core ? [field.name] : [section.urn, field.name];
  return sub ? [...steps, sub.name] : steps;
}
