// Provides policies and sample data for the models of the seed; a text seeds the data, so that a branch always has the same
// rows.
import type { ModelTable, Policy, Sampling } from './model.ts';

const DAY_MS = 86_400_000;
/** Share of each country among customers and sites; the sum is 1. */
const COUNTRY_SHARES: readonly (readonly [code: string, share: number])[] = [
  ['DE', 0.24],
  ['US', 0.22],
  ['FR', 0.16],
  ['JP', 0.14],
  ['BR', 0.12],
  ['IN', 0.12],
];

/** Rows of the table `countries`: code, name, region. */
export const COUNTRIES = [
  ['DE', 'Germany', 'Europe'],
  ['US', 'United States', 'Americas'],
  ['FR', 'France', 'Europe'],
  ['JP', 'Japan', 'Asia'],
  ['BR', 'Brazil', 'Americas'],
  ['IN', 'India', 'Asia'],
] as const;

/** Returns a random number generator seeded by a text: FNV-1a for the seed, xorshift for the numbers. */
export function createDice(text: string): () => number {
  // The two constants are the offset basis and the prime of FNV-1a with 32 bits.
  let state = 0x811c9dc5;
  for (const sign of text) state = Math.imul(state ^ (sign.codePointAt(0) ?? 0), 0x01000193);
  // From the state 0 xorshift would return nothing but zeros.
  state = state >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** The group sees the rows of the user's own country, the group `everything` sees all rows, other users none. */
export const policiesByCountry = (group: string): readonly Policy[] => [
  {
    groups: [group],
    filters: [{ dimension: 'country', operator: 'equals', values: ['{ userAttributes.country }'] }],
  },
  { groups: ['everything'], filters: [] },
];

/** Returns the columns of a definition such as `id INTEGER, name VARCHAR`. */
export const tableColumns = (definition: string): ModelTable['columns'] =>
  definition.split(', ').map((column) => {
    const [name = '', type = ''] = column.split(' ');
    return [name, type];
  });

/** Returns one of the choices at random; the number beside a choice is its probability. */
export function pick<T>(sampling: Sampling, choices: readonly (readonly [T, number])[]): T {
  let remaining = sampling.roll();
  for (const [choice, share] of choices) {
    remaining -= share;
    if (remaining < 0) return choice;
  }
  // Rounding may leave something after the last share.
  const last = choices.at(-1);
  if (!last) throw new Error('Nothing to choose from');
  return last[0];
}

export function pickCountry(sampling: Sampling): string {
  return pick(sampling, COUNTRY_SHARES);
}

/** Returns a whole number from `least` to `most`. */
export function between(sampling: Sampling, least: number, most: number): number {
  return least + Math.floor(sampling.roll() * (most - least + 1));
}

/** Returns a time in the `days` before `untilMs`, in the engine's format, UTC. */
export function sampledMoment(sampling: Sampling, days: number): string {
  const ms = sampling.untilMs - Math.floor(sampling.roll() * days * DAY_MS);
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
