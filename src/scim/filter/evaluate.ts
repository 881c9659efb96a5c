// Evaluates a filter on a resource or on one element of a multi-valued attribute (RFC 7644 §3.4.2.2). Also finds the equalities
// that a filter requires, such as for a look-up in an index (`equalityOf`), or for an element that PATCH creates
// (`requiredValues`).
import { foldCase } from '../json.ts';
import type { Comparison, Filter, FilterValue } from './filter.ts';

/**
 * Returns whether a resource satisfies the filter, or an element for a filter from inside `[…]`. The resource must have
 * the form of an answer, with `id`, `meta`, groups and members. A multi-valued attribute matches when any of its values
 * matches. `ne` also matches an attribute without a value.
 */
export function evaluateFilter(filter: Filter, resource: unknown): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.branches.every((branch) => evaluateFilter(branch, resource));
    case 'or':
      return filter.branches.some((branch) => evaluateFilter(branch, resource));
    case 'not':
      return !evaluateFilter(filter.branch, resource);
    case 'present':
      return someValue(resource, filter.attribute.steps, 0, isPresent);
    case 'element':
      return someValue(resource, filter.attribute.steps, 0, (value) => evaluateFilter(filter.filter, value));
    case 'compare':
      return compare(filter, resource);
  }
}

function compare(comparison: Comparison, resource: unknown): boolean {
  const { operator, value } = comparison;
  const { steps } = comparison.attribute;
  // `eq null` matches an attribute without a value, `ne null` one with a value.
  if (value === null) return someValue(resource, steps, 0, isPresent) === (operator === 'ne');
  // An attribute without a value differs from every value.
  if (operator === 'ne' && !someValue(resource, steps, 0, isPresent)) return true;
  return someValue(resource, steps, 0, (candidate) => satisfies(comparison, candidate));
}

// Returns whether `test` is true for any value at the path. Lists are searched; a simple element counts as its `value`.
// `index`: the step of the path that is taken from `node`.
function someValue(
  node: unknown,
  steps: readonly string[],
  index: number,
  test: (value: unknown) => boolean,
): boolean {
  if (node === null || node === undefined) return false;
  if (Array.isArray(node)) {
    for (const item of node) if (someValue(item, steps, index, test)) return true;
    return false;
  }
  const step = steps[index];
  if (step === undefined) return test(node);
  if (typeof node !== 'object') return step === 'value' && index === steps.length - 1 && test(node);
  return (
    Object.hasOwn(node, step) && someValue((node as Record<string, unknown>)[step], steps, index + 1, test)
  );
}

/** Yields the values at the path, on which `someValue` runs its test. */
export function* valuesAt(node: unknown, steps: readonly string[], index = 0): Generator<unknown, void> {
  if (node === null || node === undefined) return;
  if (Array.isArray(node)) {
    for (const item of node) yield* valuesAt(item, steps, index);
    return;
  }
  const step = steps[index];
  if (step === undefined) yield node;
  else if (typeof node !== 'object') {
    if (step === 'value' && index === steps.length - 1) yield node;
  } else if (Object.hasOwn(node, step)) {
    yield* valuesAt((node as Record<string, unknown>)[step], steps, index + 1);
  }
}

export function isPresent(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  if (typeof value !== 'object') return true;
  return Object.values(value).some(isPresent);
}

function collate(candidate: unknown, collation: Comparison['collation']): unknown {
  if (typeof candidate !== 'string' || collation === 'exact') return candidate;
  return collation === 'time' ? Date.parse(candidate) : foldCase(candidate);
}

/** Compares with `operand`, the value of the filter, which is already collated like the candidate. */
export function satisfies(comparison: Comparison, candidate: unknown): boolean {
  const { operand, operator } = comparison;
  const actual = collate(candidate, comparison.collation);
  if (operator === 'eq') return actual === operand;
  if (operator === 'ne') return actual !== operand;
  if (typeof actual === 'string' && typeof operand === 'string')
    return matchesText(operator, actual, operand);
  if (typeof actual === 'number' && typeof operand === 'number') return isOrdered(operator, actual - operand);
  return false;
}

function matchesText(operator: Comparison['operator'], actual: string, operand: string): boolean {
  if (operator === 'co') return actual.includes(operand);
  if (operator === 'sw') return actual.startsWith(operand);
  if (operator === 'ew') return actual.endsWith(operand);
  if (actual === operand) return isOrdered(operator, 0);
  return isOrdered(operator, actual < operand ? -1 : 1);
}

/** Returns whether the order operator holds for `actual - operand`. */
function isOrdered(operator: Comparison['operator'], difference: number): boolean {
  if (operator === 'gt') return difference > 0;
  if (operator === 'ge') return difference >= 0;
  if (operator === 'lt') return difference < 0;
  return operator === 'le' && difference <= 0;
}

/** Attributes with an index, most selective first: of several equalities in an `and`, the earliest in this list is looked up. */
const INDEXED = ['id', 'username', 'externalid', 'emails.value', 'displayname'];

/**
 * Returns an equality on text that every match satisfies: a bare `eq`, a branch of an `and`, or the inside of `emails[…]`; of
 * several, the one whose index is most selective. The attribute may have no index: then the caller has to scan. Other resources
 * may satisfy the equality too, so the whole filter must be evaluated on them. Undefined when the filter has no such equality.
 */
export function equalityOf(filter: Filter): { attribute: string; value: string } | undefined {
  const found = equalities(filter);
  const rank = (attribute: string): number => {
    const index = INDEXED.indexOf(attribute);
    return index < 0 ? INDEXED.length : index;
  };
  found.sort((a, b) => rank(a.attribute) - rank(b.attribute));
  return found[0];
}

function equalities(filter: Filter): { attribute: string; value: string }[] {
  if (filter.kind === 'and') return filter.branches.flatMap(equalities);
  if (filter.kind === 'element') return equalities(filter.filter);
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string') return [];
  return [{ attribute: filter.attribute.key, value: filter.value }];
}

/** Returns the equalities that the filter requires, with typed values. */
export function requiredValues(filter: Filter): { name: string; value: FilterValue }[] {
  if (filter.kind === 'and') return filter.branches.flatMap(requiredValues);
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || filter.value === null) return [];
  const name = filter.attribute.steps.at(-1);
  return name === undefined ? [] : [{ name, value: filter.value }];
}
