// Evaluates the row policies of a cube for a security context: groups and user attributes (contract 5.6).
import type { CoreDataSecurityContext } from './security-context.ts';
import { userError } from './members.ts';
import type { Cube, Policy, RowFilter } from './model.ts';

/** `column IN values`, or its negation, with the references resolved. */
export interface PolicyCondition {
  readonly dimension: string;
  readonly operator: RowFilter['operator'];
  readonly values: readonly string[];
}

/** `some`: a row is visible when all conditions of at least one alternative match. */
export type Access =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'some'; readonly alternatives: readonly (readonly PolicyCondition[])[] };

const ATTRIBUTE = `(?:security_?[cC]ontext\\.cube_?[cC]loud\\.)?user_?[aA]ttributes\\.([A-Za-z_][A-Za-z0-9_]*)`;
const TEMPLATE = new RegExp(`^\\{\\s*${ATTRIBUTE}\\s*\\}$`);
const LIST_REFERENCE = new RegExp(`^${ATTRIBUTE}$`);

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
  const { dimension, operator, values } = filter;
  const list =
    typeof values === 'string' ? listOfAttribute(filter, context) : values.map((text) => fill(text, context));
  return { dimension, operator, values: list };
}

/** Returns the policies that name one of the context's groups or `*` and whose conditions hold. */
function matchingPolicies(cube: Cube, context: CoreDataSecurityContext): Policy[] {
  return cube.policies.filter(
    ({ group, conditions = [] }) =>
      (group === '*' || context.groups.includes(group)) && conditions.every((holds) => holds(context)),
  );
}

/** Returns true when a policy matches the context, or when the cube has no policies. */
export function isVisible(cube: Cube, context: CoreDataSecurityContext): boolean {
  return cube.policies.length === 0 || matchingPolicies(cube, context).length > 0;
}

const showsMember = ({ members }: Policy, name: string): boolean => {
  if (members === undefined) return true;
  const { includes, excludes } = members;
  if (excludes === '*' || excludes.includes(name)) return false;
  return includes === '*' || includes.includes(name);
};

/** Returns the cube with the members that a matching policy shows, and the policies that show any of them. */
export function visiblePart(cube: Cube, context: CoreDataSecurityContext): Cube {
  if (cube.policies.every(({ members }) => members === undefined)) return cube;
  const matching = matchingPolicies(cube, context);
  const shown = <T extends { readonly name: string }>(list: readonly T[]): T[] =>
    list.filter(({ name }) => matching.some((policy) => showsMember(policy, name)));
  return {
    ...cube,
    measures: shown(cube.measures),
    dimensions: shown(cube.dimensions),
    segments: shown(cube.segments),
  };
}

/**
 * Returns the access of the context; without a matching policy it is `none`. A template whose attribute has no value
 * matches no row. @throws 400 for a list attribute without values
 */
export function accessOf(cube: Cube, context: CoreDataSecurityContext): Access {
  if (!isVisible(cube, context)) return { kind: 'none' };
  const matching = matchingPolicies(cube, context);
  if (matching.every(({ filters }) => filters.length > 0) && matching.length > 0) {
    const alternatives = matching.map(({ filters }) => filters.map((filter) => toCondition(filter, context)));
    return { kind: 'some', alternatives };
  }
  return { kind: 'all' };
}

const allOf = (parts: readonly unknown[]): unknown => (parts.length === 1 ? parts[0] : { and: parts });

/** Returns the filters that policies add to a query, as Cube shows them: one for all cubes, or none. */
export function policyFilters(cubes: readonly Cube[], accessTo: (cube: Cube) => Access): unknown[] {
  const constraints = cubes.flatMap((cube) => {
    const access = accessTo(cube);
    if (access.kind !== 'some') return [];
    const choices = access.alternatives.map((conditions) =>
      allOf(conditions.map(({ dimension, ...rest }) => ({ member: `${cube.name}.${dimension}`, ...rest }))),
    );
    return [choices.length === 1 ? choices[0] : { or: choices }];
  });
  return constraints.length === 0 ? [] : [allOf(constraints)];
}
