// Shortens the long names in the texts of an explanation that is shown as a page.
import type { Explanation } from './explanation.ts';
import { besideCommands, clipWords } from '../support/columns.ts';
import { visible } from '../support/visible.ts';

/**
 * Returns a function that shortens the long names of an explanation, and every other long word, in a text. The commands in the text
 * stay as they are, because a shortened command cannot be run (`besideCommands`).
 */
export function nameShortener({ name, nameAtTarget, memberships }: Explanation): (text: string) => string {
  const names = [name, nameAtTarget ?? '', ...memberships.map((each) => each.name)]
    .map(visible)
    .filter((each) => clipWords(each) !== each || each.length > LONG_NAME)
    // A name may contain another one, so the longest is replaced first.
    .toSorted((one, other) => other.length - one.length);
  const shorten = (part: string): string =>
    clipWords(names.reduce((left, each) => left.replaceAll(each, middleCut(each)), part));
  return (text) => besideCommands(visible(text), shorten);
}

/** Largest number of characters of a name on a page. */
const LONG_NAME = 48;
/** Numbers of characters that stay at the start and at the end of a longer name. */
const KEPT = { start: 30, end: 12 };

const middleCut = (name: string): string => {
  const characters = [...name];
  return characters.length <= LONG_NAME
    ? name
    : `${characters.slice(0, KEPT.start).join('')}…${characters.slice(-KEPT.end).join('').trim()}`;
};
