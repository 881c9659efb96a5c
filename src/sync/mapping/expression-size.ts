// Measures the values of an expression step by step, so that it fails before its texts or lists fill the memory.

/** Limits. `value`: characters and elements of one value; `depth`: its nested levels; `made`: of the values that one evaluation creates. */
export const SIZES = { value: 1_000_000, depth: 32, made: 10_000_000 };

interface Size {
  /** Number of characters and elements, those of inner values included. */
  value: number;
  /** Number of nested lists and objects. */
  depth: number;
}

/** Size of a number, a boolean or a function. */
const LEAF: Size = { value: 1, depth: 0 };
/** Types of JSONata's expression nodes that return existing values and create none. */
const SHOWING = new Set(['variable', 'name', 'string', 'number', 'value', 'parent']);

/** @returns a function that measures the result of one step and returns a sentence when a limit is exceeded */
export function createMeter(): (step: string, result: unknown) => string | undefined {
  /** Sizes of values, so that a value that occurs several times is measured once. */
  const known = new WeakMap<object, Size>();
  let made = 0;

  function sizeOf(value: unknown): Size {
    if (typeof value === 'string') return { value: value.length, depth: 0 };
    // Functions are skipped, because they refer to the whole environment of the expression.
    if (typeof value !== 'object' || value === null || isFunction(value)) return LEAF;
    const measured = known.get(value);
    if (measured) return measured;
    const size = { value: 1, depth: 1 };
    known.set(value, size);
    for (const part of Object.values(value)) {
      const { value: inner, depth } = sizeOf(part);
      size.value += inner;
      size.depth = Math.max(size.depth, depth + 1);
    }
    return size;
  }

  return (step, result) => {
    const { value, depth } = sizeOf(result);
    if (value > SIZES.value) return `makes a value of more than ${SIZES.value} letters and elements`;
    if (depth > SIZES.depth) return `nests lists and objects deeper than ${SIZES.depth} levels`;
    // Nothing was created.
    if (SHOWING.has(step)) return undefined;
    made += typeof result === 'string' || Array.isArray(result) ? result.length : 1;
    return made > SIZES.made ? `makes more than ${SIZES.made} letters and elements` : undefined;
  };
}

/** Returns whether a value is a function of JSONata. */
const isFunction = (value: object): boolean => '_jsonata_lambda' in value || '_jsonata_function' in value;
