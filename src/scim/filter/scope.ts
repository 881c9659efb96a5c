// Resolves the names in a filter, at a resource or inside the `[…]` of one of its attributes.
import { resolveAttribute, stepsTo, type AttributePath } from '../attribute-path.ts';
import type { Field, Fields } from '../attributes.ts';
import { findField, type ResourceType } from '../resource-type.ts';
import { excerpt, invalidFilter } from '../errors.ts';
import type { Profile } from '../profiles.ts';
import type { FilterAttribute } from './filter.ts';
import type { Token } from './lexer.ts';

/** Resolves names of attributes in a resource, or in an element inside `[…]`. */
export interface NameScope {
  /** @throws 400 invalidFilter for a name that no schema declares, or that a filter must not use, such as `password`. */
  resolve(token: Token): Located;
}

/** A name in a filter, resolved. */
export interface Located {
  /** Undefined for an undeclared member of an open extension. */
  readonly field: Field | undefined;
  /** Canonical keys that lead to the value. */
  readonly steps: readonly string[];
  /** Path without an implied `.value`. */
  readonly path: string;
  /** Whether the path names a sub-attribute, so that no `.value` is implied. */
  readonly isPart: boolean;
}

function unknown(token: Token): Error {
  return invalidFilter(`"${excerpt(token.text)}" at position ${token.at} is not an attribute known here.`);
}

/** Resolves names at a resource. */
export function resourceScope(type: ResourceType, profile: Profile): NameScope {
  return {
    resolve(token) {
      const found = resolveName(type, token.text, profile);
      if (found.kind === 'member') {
        const path = `${found.section.urn}:${found.name}`;
        return { field: undefined, steps: [found.section.urn, found.name], path, isPart: false };
      }
      if (found.kind !== 'attribute') throw unknown(token);
      // A filter on `password` would let a client guess it.
      if (found.field.attribute.returned === 'never') throw unknown(token);
      if (found.unqualified && !profile.allows('unqualified-extension')) throw unknown(token);
      const field = found.sub ?? found.field;
      return {
        field,
        steps: stepsTo(found.section, found.field, found.sub),
        path: field.path,
        isPart: !!found.sub,
      };
    },
  };
}

/** Resolves a name; `email` means `emails` if the profile allows it. */
function resolveName(type: ResourceType, text: string, profile: Profile): AttributePath {
  const found = resolveAttribute(type, text);
  if (found.kind !== 'unknown' || text.toLowerCase() !== 'email') return found;
  const emails = resolveAttribute(type, 'emails');
  return emails.kind === 'attribute' && profile.allows('email-singular') ? emails : found;
}

/** Resolves names at an element of a multi-valued attribute. */
export function elementScope(parts: Fields): NameScope {
  return {
    resolve(token) {
      const field = findField(parts, token.text);
      if (!field) throw unknown(token);
      return { field, steps: [field.name], path: field.path, isPart: true };
    },
  };
}

/** Returns the attribute itself, without an implied `.value`. */
export function toAttribute(located: Located): FilterAttribute {
  return { steps: located.steps, field: located.field, key: located.path.toLowerCase() };
}

/**
 * Returns the attribute that a comparison reads: `emails eq "x"` means `emails.value eq "x"`. Of a simple multi-valued
 * attribute the elements are compared.
 * @throws 400 invalidFilter for a complex attribute without `value`
 */
export function toComparable(located: Located, token: Token): FilterAttribute {
  if (located.field?.attribute.type !== 'complex') return toAttribute(located);
  const value = located.field.parts?.byName.get('value');
  if (!value)
    throw invalidFilter(`"${excerpt(token.text)}" at position ${token.at} is complex: name a sub-attribute.`);
  return { steps: [...located.steps, value.name], field: value, key: value.path.toLowerCase() };
}

/** Creates the 400 invalidFilter for `[…]` behind an attribute that has no elements. */
export function unknownElement(token: Token): Error {
  return invalidFilter(`"${excerpt(token.text)}" at position ${token.at} has no elements to select.`);
}
