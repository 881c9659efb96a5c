// Evaluates the access policies of cubes for a security context: visible members and filters of rows (contract 5.6).
import type { CoreDataSecurityContext } from './security-context.ts';
import { userError } from './members.ts';
import type { Cube, Policy, PolicyFilter, RowFilter } from './model.ts';
import type { PolicyTest } from './policy-condition.ts';

/** A filter of a policy with its values, in the form of a query's filters. */
type EvaluatedFilter = Readonly<Record<string, unknown>>;

const ATTRIBUTE = `(?:security_?[cC]ontext\\.cube_?[cC]loud\\.)?user_?[aA]ttributes\\.([A-Za-z_][A-Za-z0-9_]*)`;
/** A value such as `{ userAttributes.country }`; Cube's longer form and its snake case are accepted too. */
const TEMPLATE = new RegExp(`^\\{\\s*${ATTRIBUTE}\\s*\\}$`);
/** All values as one attribute: `userAttributes.countries`. */
const LIST_REFERENCE = new RegExp(`^${ATTRIBUTE}$`);

const attributeOf = ({ userAttributes }: CoreDataSecurityContext, name: string): unknown =>
  Object.hasOwn(userAttributes, name) ? userAttributes[name] : undefined;

/** Returns the text of a template: a list becomes one text, a missing attribute the word `undefined`, as in Cube. */
function fill(text: string, context: CoreDataSecurityContext): string {
  const [, name] = TEMPLATE.exec(text) ?? [];
  return name === undefined ? text : String(attributeOf(context, name));
}

/**
 * Returns the values as Cube adds them to the query. A LIST_REFERENCE is replaced by the value of its attribute: a list as texts,
 * any other value unchanged.
 */
function valuesOf({ values }: RowFilter, context: CoreDataSecurityContext): unknown {
  if (typeof values !== 'string') return values?.map((value) => fill(String(value), context));
  const value = attributeOf(context, LIST_REFERENCE.exec(values)?.[1] ?? '');
  return Array.isArray(value) ? value.map(String) : value;
}

function evaluate(filter: PolicyFilter, cube: Cube, context: CoreDataSecurityContext): EvaluatedFilter {
  if ('and' in filter) return { and: filter.and.map((part) => evaluate(part, cube, context)) };
  if ('or' in filter) return { or: filter.or.map((part) => evaluate(part, cube, context)) };
  const values = valuesOf(filter, context);
  const { dimension, operator } = filter;
  return { member: `${cube.name}.${dimension}`, operator, ...(values === undefined ? {} : { values }) };
}

/**
 * Returns true if all conditions hold. Only the first may have a value that is not boolean, as in Cube.
 * @throws 400 if a later condition has a value that is not boolean
 */
function areMet(conditions: readonly PolicyTest[], context: CoreDataSecurityContext): boolean {
  const [first, ...others] = conditions.map((condition) => condition(context));
  for (const value of others)
    if (typeof value !== 'boolean')
      throw userError(
        `Error: Access policy condition must return boolean, got ${JSON.stringify(value)?.slice(0, 100)}`,
      );
  return conditions.length === 0 || (Boolean(first) && others.every((value) => value === true));
}

/** Returns the policies that name one of the context's groups or `*` and whose conditions hold. */
function matchingPolicies(cube: Cube, context: CoreDataSecurityContext): Policy[] {
  return cube.policies.filter(
    ({ groups, conditions = [] }) =>
      groups.some((group) => group === '*' || context.groups.includes(group)) && areMet(conditions, context),
  );
}

function showsMember({ members }: Policy, name: string): boolean {
  if (members === undefined) return true;
  const { includes, excludes } = members;
  if (excludes === '*' || excludes.includes(name)) return false;
  return includes === '*' || includes.includes(name);
}

/** Returns the cube with those of its public members that pass the test. */
function partOf(cube: Cube, test: (name: string) => boolean): Cube {
  const shown = <T extends { readonly name: string; readonly isPrivate?: boolean }>(
    list: readonly T[],
  ): T[] => list.filter(({ name, isPrivate }) => isPrivate !== true && test(name));
  const { measures, dimensions, segments } = cube;
  return {
    ...cube,
    measures: shown(measures),
    dimensions: shown(dimensions),
    segments: shown(segments),
  };
}

/** Returns the cube with its public members; where it has policies, with those that a matching policy shows. */
export function visiblePart(cube: Cube, context: CoreDataSecurityContext): Cube {
  const matching = matchingPolicies(cube, context);
  return partOf(
    cube,
    (name) => cube.policies.length === 0 || matching.some((policy) => showsMember(policy, name)),
  );
}

/**
 * Returns the cube with the columns that SQL may name. If no policy matches, these are all public columns; where the cube has
 * policies, SQL then gets no rows.
 */
export const namedInSql = (cube: Cube, context: CoreDataSecurityContext): Cube =>
  matchingPolicies(cube, context).length > 0 ? visiblePart(cube, context) : partOf(cube, () => true);

const allOf = (parts: readonly EvaluatedFilter[]): EvaluatedFilter | undefined =>
  parts.length > 1 ? { and: parts } : parts[0];
const anyOf = (parts: readonly EvaluatedFilter[]): EvaluatedFilter | undefined =>
  parts.length > 1 ? { or: parts } : parts[0];

/**
 * Returns the row filters of one cube for the members of a query, or null when no policy shows one of the members. Each member
 * is seen in the rows of any policy that shows it; a query sees the rows that all of its members have in common.
 * @param policies those that match the context
 * @param evaluateAll returns all filters of a policy as one
 * @param isBelowView true for a cube of a queried view, which decides on the members: each policy then counts for each member
 */
function constraintsOf(
  policies: readonly Policy[],
  members: readonly string[],
  evaluateAll: (policy: Policy) => EvaluatedFilter | undefined,
  isBelowView: boolean,
): EvaluatedFilter[] | null {
  const found = new Map<string, EvaluatedFilter>();
  for (const name of members) {
    const granting = isBelowView ? policies : policies.filter((policy) => showsMember(policy, name));
    if (granting.length === 0) return null;
    if (granting.some(({ filters }) => filters.length === 0)) continue;
    const constraint = anyOf(granting.map(evaluateAll).filter((filter) => filter !== undefined));
    // Members with the same filter add it once.
    if (constraint) found.set(JSON.stringify(constraint), constraint);
  }
  return [...found.values()];
}

/**
 * Returns the filters that policies add to a query which evaluates these members (`cube.member`): one, or none. Null =
 * a member is not granted, so that the query sees no rows. A view decides on the members of the cubes below it, whose
 * policies restrict the rows only.
 */
export function policyFilters(
  cubes: readonly Cube[],
  names: readonly string[],
  context: CoreDataSecurityContext,
): EvaluatedFilter[] | null {
  const members = new Map<string, string[]>();
  for (const name of names) {
    const [cube = '', member = ''] = name.split('.');
    members.set(cube, [...(members.get(cube) ?? []), member]);
  }
  const queried = [...members.keys()].flatMap((name) => cubes.find((cube) => cube.name === name) ?? []);
  const belowViews = new Set(queried.flatMap((cube) => (cube.kind === 'view' ? cube.cubes : [])));
  const constraints: EvaluatedFilter[] = [];
  for (const cube of queried) {
    if (cube.policies.length === 0) continue;
    const found = constraintsOf(
      matchingPolicies(cube, context),
      members.get(cube.name) ?? [],
      ({ filters }) => allOf(filters.map((filter) => evaluate(filter, cube, context))),
      belowViews.has(cube.name),
    );
    if (found === null) return null;
    const constraint = allOf(found);
    if (constraint) constraints.push(constraint);
  }
  const whole = allOf(constraints);
  return whole === undefined ? [] : [whole];
}
