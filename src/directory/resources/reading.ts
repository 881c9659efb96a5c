// Reads many records of one connection in portions whose size in bytes is bounded, in order of creation.
import {
  isSound,
  parseStored,
  ScannedRecord,
  type Kind,
  type PlacedRecord,
  type StoredRecord,
} from '../records.ts';
import { pairsOf, readInPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';

export interface RecordPage {
  total: number;
  /** May be fewer than requested: at the end, at the byte limit of a page, and because damaged records are left out. */
  records: StoredRecord[];
}

/** Undamaged records of the first of the requested ids. */
export interface RecordPortion {
  records: StoredRecord[];
  /** Number of ids that were read, including unknown ones. */
  read: number;
}

/** Reads the records of the first of these ids, up to `bytes` bytes. */
export type ReadPortion = (kind: Kind, ids: string[], bytes: number) => Promise<RecordPortion>;

/** Largest number of ids that one command has, because each is an argument of a function call, and the stack is finite. */
export const IDS_AT_ONCE = 1000;
/** Largest number of records that one command reads. */
const SCAN_RECORDS = 250;
/** Bytes of the records of one portion of a scan. */
const SCAN_BYTES = 524_288;

export function createReading({ redis, scripts, keys }: StoreDeps) {
  const family = (kind: Kind): string => (kind === 'User' ? 'users' : 'groups');

  /** Returns the stored records of the first ids (null for an unknown id), as many as fit into `bytes`, but at least one. */
  async function texts(kind: Kind, ids: string[], bytes: number): Promise<(string | null)[]> {
    const args = { family: family(kind), ids, bytes };
    return (await scripts.run('read_texts', keys.base, args)) as unknown as (string | null)[];
  }

  /** Returns the undamaged records of `ids` in their order, up to `bytes` bytes; at least the first id is read. */
  async function portion(kind: Kind, ids: string[], bytes: number): Promise<RecordPortion> {
    const records: StoredRecord[] = [];
    let read = 0;
    while (read < ids.length && (read === 0 || bytes > 0)) {
      const asked = ids.slice(read, read + SCAN_RECORDS);
      const stored = await texts(kind, asked, bytes);
      for (const [index, text] of stored.entries()) {
        if (text === null) continue;
        const record = parseStored(asked[index] ?? '', text);
        if (isSound(record)) records.push(record);
        bytes -= text.length;
      }
      read += stored.length;
      if (stored.length < asked.length) break;
    }
    return { records, read };
  }

  /** Returns `count` resources from the 1-based `startIndex` in order of creation (RFC 7644 §3.4.2.4), up to `bytes` bytes. */
  async function page(kind: Kind, startIndex: number, count: number, bytes = Infinity): Promise<RecordPage> {
    const order = keys.key('order', kind);
    const [total, ids] = await Promise.all([
      redis.zcard(order),
      count === 0 ? [] : redis.zrange(order, String(startIndex - 1), String(startIndex + count - 2)),
    ]);
    // Infinity has no form in the JSON arguments of a script.
    return { total, records: (await portion(kind, ids, Math.min(bytes, Number.MAX_SAFE_INTEGER))).records };
  }

  /**
   * Reads the records of the first ids of a list.
   * @returns `last`: place of the last id that was read; `read`: number of read ids
   */
  async function placed(
    kind: Kind,
    ordered: readonly { id: string; place: number }[],
  ): Promise<{ last: number; read: number; records: PlacedRecord[] }> {
    const ids = ordered.map(({ id }) => id);
    const stored = await texts(kind, ids, SCAN_BYTES);
    const read = ordered.slice(0, stored.length);
    const records = read.flatMap(({ id, place }, index) => {
      const text = stored[index];
      return text ? [new ScannedRecord(id, place, text)] : [];
    });
    return { last: read.at(-1)?.place ?? Infinity, read: read.length, records };
  }

  /** Returns the first portion behind the place `after`, and the place of its last resource; undefined at the end. */
  async function behind(
    kind: Kind,
    after: number,
  ): Promise<{ last: number; records: PlacedRecord[] } | undefined> {
    const order = keys.key('order', kind);
    const range = [`(${after}`, '+inf', 'WITHSCORES', 'LIMIT', 0, SCAN_RECORDS] as const;
    const found = await redis.zrangebyscore(order, ...range);
    if (found.length === 0) return undefined;
    const ordered = pairsOf(found).map(([id, place]) => ({ id, place: Number(place) }));
    return placed(kind, ordered);
  }

  /** Yields all resources behind the place `after`, in order of creation. @throws the reason of `signal` */
  async function* scan(kind: Kind, after = 0, signal?: AbortSignal): AsyncGenerator<PlacedRecord[]> {
    for (let next = await behind(kind, after); next;) {
      signal?.throwIfAborted();
      // The next portion is requested while the caller processes this one.
      const following = behind(kind, next.last);
      // Without this handler an early stop of the caller would leave an unhandled rejection.
      following.catch(() => undefined);
      yield next.records;
      next = await following;
    }
  }

  /**
   * Yields the records of those `ids` that are behind the place `after`, in order of creation.
   * @throws the reason of `signal`
   */
  async function* inOrder(
    kind: Kind,
    ids: string[],
    after = 0,
    signal?: AbortSignal,
  ): AsyncGenerator<PlacedRecord[]> {
    const places = await readInPortions(ids, IDS_AT_ONCE, (portion) =>
      redis.zmscore(keys.key('order', kind), ...portion),
    );
    const order = ids
      .map((id, index) => ({ id, place: Number(places[index] ?? 0) }))
      .filter(({ place }) => place > after)
      .sort((a, b) => a.place - b.place);
    for (let at = 0; at < order.length;) {
      signal?.throwIfAborted();
      const { read, records } = await placed(kind, order.slice(at, at + SCAN_RECORDS));
      at += read;
      yield records;
    }
  }

  return { portion, page, scan, inOrder };
}
