// Draws the random numbers of an office: the same seed gives the same events.
import { createRandom } from '../company.ts';

export type Dice = ReturnType<typeof createDice>;

export function createDice(seed: number) {
  const random = createRandom(seed);
  // The first numbers of this generator are alike for neighbouring seeds.
  for (let index = 0; index < 10; index++) random();
  return {
    random,
    chance: (share: number): boolean => random() < share,
    pick: <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)],
  };
}
