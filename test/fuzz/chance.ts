// Creates a seeded random generator.

export interface Chance {
  /** Returns an integer from 0 to below `limit`. */
  below: (limit: number) => number;
  /** Returns true once in `times` on average. */
  once: (times: number) => boolean;
  pick: <T>(choices: readonly T[]) => T;
  /** Returns up to `most` values of `make`. */
  some: <T>(most: number, make: () => T) => T[];
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  // Mulberry32 with 32 bits of state, which is enough for tests.
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
