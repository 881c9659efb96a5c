// Writes a count with its noun as text, and sums counts.

/** Returns `1 user` or `2 users`. @param many plural of a noun that does not just add an s, such as `entries` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

export const total = (counts: readonly number[]): number => counts.reduce((sum, each) => sum + each, 0);
