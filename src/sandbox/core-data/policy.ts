// Evaluates the row policies of a cube for a security context: groups and user attributes (contract 5.6).
import type { CoreDataSecurityContext } from './core-data.ts';
import type { Cube, RowFilter } from './model.ts';

/** `column IN values`, with the references resolved. */
export interface PolicyCondition {
  readonly dimension: string;
  readonly values: readonly string[];
}

/** `some`: a row is visible when all conditions of at least one alternative match. */
export type Access =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'some'; readonly alternatives: readonly (readonly PolicyCondition[])[] };

const REFERENCE = /^\{\s*userAttributes\.([A-Za-z_][A-Za-z0-9_]*)\s*\}$/;

/** Returns the values of a policy with references resolved; a missing user attribute gives none. */
function resolve(text: string, context: CoreDataSecurityContext): string[] {
  const [, name] = REFERENCE.exec(text) ?? [];
  if (name === undefined) return [text];
  const value = Object.hasOwn(context.userAttributes, name) ? context.userAttributes[name] : undefined;
  if (value === undefined) return [];
  const list = Array.isArray(value) ? (value as readonly (string | number)[]) : [value];
  return list.map(String);
}

function toCondition(filter: RowFilter, context: CoreDataSecurityContext): PolicyCondition {
  return { dimension: filter.dimension, values: filter.values.flatMap((text) => resolve(text, context)) };
}

/** Returns true when a policy names one of the context's groups or `*`, or when the cube has no policies. */
export function isVisible(cube: Cube, context: CoreDataSecurityContext): boolean {
  if (cube.policies.length === 0) return true;
  return cube.policies.some(({ group }) => group === '*' || context.groups.includes(group));
}

/**
 * Returns the access of the context; without a matching policy it is `none`, an attribute without value matches
 * no row.
 */
export function accessOf(cube: Cube, context: CoreDataSecurityContext): Access {
  if (!isVisible(cube, context)) return { kind: 'none' };
  const matching = cube.policies.filter(({ group }) => group === '*' || context.groups.includes(group));
  if (matching.every(({ filters }) => filters.length > 0) && matching.length > 0) {
    const alternatives = matching
      .map(({ filters }) => filters.map((filter) => toCondition(filter, context)))
      .filter((conditions) => conditions.every(({ values }) => values.length > 0));
    return { kind: 'some', alternatives };
  }
  return { kind: 'all' };
}
