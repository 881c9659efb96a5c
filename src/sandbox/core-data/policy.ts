// Evaluates the row policies of a cube for a security context: groups and user attributes (contract 5.6).
import type { CoreDataSecurityContext } from './security-context.ts';
import { userError } from './members.ts';
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

const TEMPLATE = /^\{\s*userAttributes\.([A-Za-z_][A-Za-z0-9_]*)\s*\}$/;
const LIST_REFERENCE = /^userAttributes\.([A-Za-z_][A-Za-z0-9_]*)$/;

const attributeOf = ({ userAttributes }: CoreDataSecurityContext, name: string): unknown =>
  Object.hasOwn(userAttributes, name) ? userAttributes[name] : undefined;

/** Returns the text of a template: a list becomes one text, a missing attribute the word `undefined`, as in Cube. */
function fill(text: string, context: CoreDataSecurityContext): string {
  const [, name] = TEMPLATE.exec(text) ?? [];
  return name === undefined ? text : String(attributeOf(context, name));
}

/** Returns the list of an attribute. @throws 400 as Cube does for another type and for an empty list */
function listOfAttribute({ dimension, operator, values }: RowFilter, context: CoreDataSecurityContext) {
  const [, name = ''] = LIST_REFERENCE.exec(String(values)) ?? [];
  const value = attributeOf(context, name);
  if (value !== undefined && !Array.isArray(value))
    throw userError('Invalid query format: "filters[0]" does not match any of the allowed types');
  if (value === undefined || value.length === 0)
    throw userError(`Values required for filter: ${JSON.stringify({ member: dimension, operator })}`);
  return (value as readonly (string | number)[]).map(String);
}

function toCondition(filter: RowFilter, context: CoreDataSecurityContext): PolicyCondition {
  const { dimension, values } = filter;
  if (typeof values === 'string') return { dimension, values: listOfAttribute(filter, context) };
  return { dimension, values: values.map((text) => fill(text, context)) };
}

/** Returns true when a policy names one of the context's groups or `*`, or when the cube has no policies. */
export function isVisible(cube: Cube, context: CoreDataSecurityContext): boolean {
  if (cube.policies.length === 0) return true;
  return cube.policies.some(({ group }) => group === '*' || context.groups.includes(group));
}

/**
 * Returns the access of the context; without a matching policy it is `none`. A template whose attribute has no value
 * matches no row. @throws 400 for a list attribute without values
 */
export function accessOf(cube: Cube, context: CoreDataSecurityContext): Access {
  if (!isVisible(cube, context)) return { kind: 'none' };
  const matching = cube.policies.filter(({ group }) => group === '*' || context.groups.includes(group));
  if (matching.every(({ filters }) => filters.length > 0) && matching.length > 0) {
    const alternatives = matching.map(({ filters }) => filters.map((filter) => toCondition(filter, context)));
    return { kind: 'some', alternatives };
  }
  return { kind: 'all' };
}
