// Parts of sentences: lists of names that are cut after a few, and a first letter in upper case.

/** Largest number of names in a sentence. */
export const MOST_NAMED = 5;

/** Returns the first names, and the number of further ones. */
export const someOf = (names: readonly string[]): string =>
  names.slice(0, MOST_NAMED).join(', ') +
  (names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '');

/** Returns the text with its first letter in upper case. */
export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
