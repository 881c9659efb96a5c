// Evaluates a filter as `evaluateFilter` does, in steps, so that long lists and filters of many comparisons take no other request's
// time.
import type { JsonObject } from '../json.ts';
import type { Filter } from './filter.ts';
import { evaluateFilter, isPresent, satisfies, valuesAt } from './evaluate.ts';

/** Number of values that one step compares. */
const STRIDE = 20;
/** Comparisons of short values that are made at once, which is faster than in steps. */
const AT_ONCE = 500;
/** Characters of text that take about as long to compare as a short value. */
const CHARACTERS = 64;

/** Returns the items whose element satisfies the filter; yields after every few comparisons. */
export function* selectInSteps<T>(
  filter: Filter,
  items: Iterable<T>,
  elementOf: (item: T) => JsonObject,
): Generator<undefined, T[]> {
  const comparisons = comparisonsIn(filter);
  const selected: T[] = [];
  let made = 0;
  for (const item of items) {
    const element = elementOf(item);
    const needed = comparisons * sizeOf([element]);
    const isMatch =
      needed <= AT_ONCE ? evaluateFilter(filter, element) : yield* evaluateInSteps(filter, element);
    if (isMatch) selected.push(item);
    made += needed;
    if (made <= AT_ONCE) continue;
    made = 0;
    yield;
  }
  return selected;
}

/** Returns the result of `evaluateFilter`; yields after every few comparisons. */
export function* evaluateInSteps(filter: Filter, resource: unknown): Generator<undefined, boolean> {
  switch (filter.kind) {
    case 'and':
      for (const branch of filter.branches) if (!(yield* evaluateInSteps(branch, resource))) return false;
      return true;
    case 'or':
      for (const branch of filter.branches) if (yield* evaluateInSteps(branch, resource)) return true;
      return false;
    case 'not':
      return !(yield* evaluateInSteps(filter.branch, resource));
    case 'element':
      for (const value of valuesAt(resource, filter.attribute.steps))
        if (yield* evaluateInSteps(filter.filter, value)) return true;
      return false;
    case 'present':
      return yield* some(filter, resource, isPresent);
    case 'compare':
      if (filter.value === null)
        return (yield* some(filter, resource, isPresent)) === (filter.operator === 'ne');
      if (filter.operator === 'ne' && !(yield* some(filter, resource, isPresent))) return true;
      return yield* some(filter, resource, (value) => satisfies(filter, value));
  }
}

/** Returns whether `test` is true for any value of the attribute. */
function* some(
  { attribute }: Extract<Filter, { attribute: unknown }>,
  resource: unknown,
  test: (value: unknown) => boolean,
): Generator<undefined, boolean> {
  let tested = 0;
  for (const value of valuesAt(resource, attribute.steps)) {
    if (test(value)) return true;
    if (++tested % STRIDE === 0) yield;
  }
  yield;
  return false;
}

/** Returns the number of comparisons in a filter. */
export function comparisonsIn(filter: Filter): number {
  if (filter.kind === 'and' || filter.kind === 'or')
    return filter.branches.reduce((count, branch) => count + comparisonsIn(branch), 0);
  if (filter.kind === 'not') return comparisonsIn(filter.branch);
  return filter.kind === 'element' ? comparisonsIn(filter.filter) : 1;
}

/** Returns the size of a list as a number of short values. */
export function sizeOf(elements: readonly JsonObject[]): number {
  let size = elements.length;
  for (const element of elements)
    for (const name in element) {
      const value = element[name];
      if (typeof value === 'string') size += Math.floor(value.length / CHARACTERS);
    }
  return size;
}
