// Stores entries in a Redis stream with a hash chain: the hash of each entry covers the previous one, so a changed or removed
// entry is detected (lua/log.lua).
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** An entry holds values before and after a change, which may be long. */
const PORTION = 100;

/** `id` is the stream's; its first part is the time in Unix milliseconds of Redis. */
export interface Placed {
  id: string;
  at: number;
}

export type ChainedStream<Entry> = ReturnType<typeof createChainedStream<Entry>>;

/** @param keys of the stream, and of the hash of its newest entry */
export function createChainedStream<Entry>(
  redis: Redis,
  { stream, chain }: { stream: string; chain: string },
) {
  /** Yields entries in portions, newest first, back to `since` (Unix milliseconds). */
  async function* newest(since = 0): AsyncGenerator<(Entry & Placed)[]> {
    let before = '+';
    for (;;) {
      const found = await redis.xrevrange(stream, before, String(since), 'COUNT', PORTION);
      const last = found.at(-1);
      if (!last) return;
      yield found.map(([id, fields]) => ({ ...parseEntry<Entry>(fields), id, at: timeOf(id) }));
      before = `(${last[0]}`;
    }
  }

  /**
   * Verifies the hash chain of all stored entries.
   * @returns the id of the first entry with a wrong hash; undefined when the chain is intact
   */
  async function firstBroken(): Promise<string | undefined> {
    let after = '-';
    let chained: string | undefined;
    for (;;) {
      const found = await redis.xrange(stream, after, '+', 'COUNT', PORTION);
      for (const [id, [, text = '', , hash]] of found) {
        if (chained !== undefined && chainHash(chained, text) !== hash) return id;
        chained = hash;
      }
      const last = found.at(-1);
      if (!last) break;
      after = `(${last[0]}`;
    }
    const end = await redis.get(chain);
    return chained !== undefined && end !== chained ? 'the end' : undefined;
  }

  /** Returns the id of the newest entry; undefined when there is none. */
  const newestId = async (): Promise<string | undefined> =>
    (await redis.xrevrange(stream, '+', '-', 'COUNT', 1))[0]?.[0];

  return { newest, newestId, firstBroken, size: () => redis.xlen(stream) };
}

const timeOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));

const chainHash = (before: string, text: string): string =>
  createHash('sha1')
    .update(before + text)
    .digest('hex');

/** Fields are `e`, the entry, `h`, its hash. */
const parseEntry = <Entry>([, text = '{}']: string[]): Entry => JSON.parse(text) as Entry;
