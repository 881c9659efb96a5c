// Evaluates a filter on a resource or on one element of a multi-valued attribute (RFC 7644 §3.4.2.2).
import { foldCase } from '../json.ts';
import type { Comparison, Filter, FilterValue } from './filter.ts';

/**
 * Whether the resource, as it would be answered, satisfies the filter. For a filter that stands inside `[…]`
 * pass the element. A multi-valued attribute matches when any of its values does; `ne` also when it has none.
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
  if (value === null) return someValue(resource, steps, 0, isPresent) === (operator === 'ne');
  if (operator === 'ne' && !someValue(resource, steps, 0, isPresent)) return true;
  return someValue(resource, steps, 0, (candidate) => matches(comparison, candidate));
}

// Returns whether `test` is true for any value at the path. Lists are searched; a simple element counts as its `value`.
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

function isPresent(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  if (typeof value !== 'object') return true;
  return Object.values(value).some(isPresent);
}

function collate(candidate: unknown, collation: Comparison['collation']): unknown {
  if (typeof candidate !== 'string' || collation === 'exact') return candidate;
  return collation === 'time' ? Date.parse(candidate) : foldCase(candidate);
}

function matches(comparison: Comparison, candidate: unknown): boolean {
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
  return isOrdered(operator, actual < operand ? -1 : actual > operand ? 1 : 0);
}

function isOrdered(operator: Comparison['operator'], difference: number): boolean {
  if (operator === 'gt') return difference > 0;
  if (operator === 'ge') return difference >= 0;
  if (operator === 'lt') return difference < 0;
  return operator === 'le' && difference <= 0;
}

/** Attributes with an index, most selective first: an `and` uses the first of them. */
const RANK = ['id', 'username', 'externalid', 'emails.value', 'displayname'];

/**
 * An equality that an index can answer: a bare `eq` on text, an `and` with such a branch, or the same inside
 * `emails[…]`. The candidates are a superset: evaluate the whole filter on them.
 */
export function equalityOf(filter: Filter): { attribute: string; value: string } | undefined {
  const found = equalities(filter);
  const rank = (attribute: string): number => (RANK.indexOf(attribute) + RANK.length + 1) % (RANK.length + 1);
  found.sort((a, b) => rank(a.attribute) - rank(b.attribute));
  return found[0];
}

function equalities(filter: Filter): { attribute: string; value: string }[] {
  if (filter.kind === 'and') return filter.branches.flatMap(equalities);
  if (filter.kind === 'element') return equalities(filter.filter);
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string') return [];
  return [{ attribute: filter.attribute.key, value: filter.value }];
}

/** Returns the equalities that the filter requires, with typed values; a created element starts with them. */
export function requiredValues(filter: Filter): { name: string; value: FilterValue }[] {
  if (filter.kind === 'and') return filter.branches.flatMap(requiredValues);
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || filter.value === null) return [];
  const name = filter.attribute.steps.at(-1);
  return name === undefined ? [] : [{ name, value: filter.value }];
}
