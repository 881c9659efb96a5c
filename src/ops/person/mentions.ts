// Finds and replaces the names of a person in notes of operators.

interface Mentions {
  isIn: (text: string) => boolean;
  replaceIn: (text: string) => string;
}

/** Finds and replaces names in notes. @param names userNames, externalIds and addresses; only distinctive ones are found */
export function createMentions(names: Iterable<string>): Mentions {
  const forms = [...new Set(names)].filter(isDistinctive).sort((one, other) => other.length - one.length);
  if (forms.length === 0) return { isIn: () => false, replaceIn: (text) => text };
  // The longest form is tried first, so that an address is replaced as a whole. The characters around a form may not continue a
  // name or an address; a dot ends a sentence unless a letter or digit follows.
  const source = `(?<![\\p{L}\\p{N}@._+-])(?:${forms.map(escaped).join('|')})(?![\\p{L}\\p{N}@_+-]|\\.[\\p{L}\\p{N}])`;
  const once = new RegExp(source, 'iu');
  const all = new RegExp(source, 'giu');
  return { isIn: (text) => once.test(text), replaceIn: (text) => text.replaceAll(all, REPLACEMENT) };
}

const REPLACEMENT = '(forgotten)';
/** Least number of characters of a name that is no address. */
const SHORTEST = 6;

/**
 * Returns whether a name in a note means its holder: an address, or letters together with digits. A number or a plain word may
 * mean something else.
 */
const isDistinctive = (name: string): boolean =>
  name.includes('@') || (name.length >= SHORTEST && /\p{L}/u.test(name) && /\p{N}/u.test(name));

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
