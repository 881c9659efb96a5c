// Reads large data in portions, because a long command blocks Redis, and a long reply is a copy in its memory. Parses the lists in
// which Redis returns hashes and streams.
import { Cluster, type Redis } from 'ioredis';

/** Returns the pairs of a list of names and values in turn, the form in which Redis and scripts return a hash. */
export function pairsOf(flat: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < flat.length; index += 2) pairs.push([flat[index] ?? '', flat[index + 1] ?? '']);
  return pairs;
}

/** Returns the value of a field of a stream entry; undefined: the entry has no such field. */
export const fieldOf = (fields: readonly string[], name: string): string | undefined =>
  pairsOf(fields).find((pair) => pair[0] === name)?.[1];

/** Returns a list in portions of `size` items; none for an empty list. */
export const inPortions = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/** Returns what `read` returns for each portion of a list, in the order of the list. The portions are read one after another. */
export async function readInPortions<T, R>(
  items: readonly T[],
  size: number,
  read: (portion: T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const found: R[] = [];
  for (const portion of inPortions(items, size)) found.push(...(await read(portion)));
  return found;
}

/** Yields what each step of a scan finds. @param step runs a step from a cursor; '0' is the first and the last cursor */
export async function* scanned<T>(
  step: (cursor: string) => Promise<readonly [next: unknown, found: T]>,
): AsyncGenerator<T, void, undefined> {
  let cursor = '0';
  do {
    const [next, found] = await step(cursor);
    cursor = String(next);
    yield found;
  } while (cursor !== '0');
}

/** Returns the primaries: the server itself, or the known primaries of a cluster. */
export const primariesOf = (redis: Redis | Cluster): Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];

/** Yields the keys of a pattern in portions; a key may be repeated. In a cluster SCAN returns the keys of one server only. */
export async function* keysLike(redis: Redis, pattern: string, count = 1000): AsyncGenerator<string[]> {
  for (const node of primariesOf(redis))
    yield* scanned((cursor) => node.scan(cursor, 'MATCH', pattern, 'COUNT', count));
}

/** Yields the entries of a stream in portions, the oldest first. @param last id of the last entry that is read; `+`: the newest */
export async function* streamPortions(
  redis: Redis,
  stream: string,
  size: number,
  last = '+',
): AsyncGenerator<[id: string, fields: string[]][]> {
  for (let after = '-'; ;) {
    const found = await redis.xrange(stream, after, last, 'COUNT', size);
    const [newestId] = found.at(-1) ?? [];
    if (newestId === undefined) return;
    yield found;
    // `(`: newer entries than this one.
    after = `(${newestId}`;
  }
}
