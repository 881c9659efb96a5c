// Formats a count with its noun.

/** Returns `1 user`, `2 users`; `many` for nouns with another plural, such as `entries`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
