// Formats a count with its noun.

/** Returns `1 user` or `2 users`. @param many plural of a noun that does not just add an s, such as `entries` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
