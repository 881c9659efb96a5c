// Parts of sentences: lists of names that are cut after a few, and a first letter in upper case.

/** Largest number of names in a sentence. */
export const MOST_NAMED = 5;

/**
 * Returns the first names, and the number of the others, such as `a, b and 3 more`.
 * @param options.count number of all names, if `names` lacks some
 */
export function someOf(
  names: readonly string[],
  { most = MOST_NAMED, count = names.length }: { most?: number; count?: number } = {},
): string {
  const shown = names.slice(0, most);
  const more = count - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the text with its first letter in upper case. */
export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
