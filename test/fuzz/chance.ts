// Creates a seeded random generator.

export interface Chance {
  /** A whole number from 0 to below `limit`. */
  below: (limit: number) => number;
  /** True once in `times`. */
  once: (times: number) => boolean;
  pick: <T>(choices: readonly T[]) => T;
  /** Up to `most` of what `make` makes. */
  some: <T>(most: number, make: () => T) => T[];
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  // Mulberry32: 32 bits of state, enough to be unforeseen, and no more is needed.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    once: (times) => below(times) === 0,
    pick: (choices) => {
      const [first] = choices;
      if (first === undefined) throw new Error('nothing to choose from');
      return choices[below(choices.length)] ?? first;
    },
    some: (most, make) => Array.from({ length: below(most + 1) }, make),
  };
}
