// Reads and checks a Redis stream with a hash chain (lua/log.lua writes it). The hash of each entry covers the hash before,
// and both ends of the chain are stored, so a changed or removed entry is detected. The id of the first entry is stored apart
// from the chain, so a log that was deleted as a whole is detected too. Personal data of an entry is stored apart.
import { hash as digest } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';
import { fieldOf, inPortions } from '../redis/portions.ts';
import type { Scripts } from '../redis/scripts.ts';
import { checkPersonal, joinEntry, orderOf, splitEntry, type SplitEntry } from './split-entry.ts';
import { beginWholeRead, type WholeRead } from './whole-read.ts';

/** Entries per read. An entry has the values before and after a change, which may be long. */
const PORTION = 100;
/** Entries per read of a search, which first reads only the short part of each entry that the chain covers. */
const SEARCH_PORTION = 1000;

/** Place of an entry in its stream. */
export interface Placed {
  /** Id in the Redis stream. */
  id: string;
  /** Time in the id, Unix milliseconds by the clock of Redis. */
  at: number;
  /** The personal data was removed by the command forget. */
  forgotten?: true;
}

/** The part of a stream that is read. */
export interface LogSpan {
  /** Unix milliseconds, inclusive. */
  since?: number | undefined;
  until?: number | undefined;
  /** Id of an entry. Only older entries are read; with `withBefore` also the entry with this id. */
  before?: string | undefined;
  withBefore?: boolean;
}

/** Result of one read of a search. */
export interface SearchedPortion<Entry> {
  /** The accepted entries, newest first. */
  entries: Entry[];
  /** Id of the oldest entry that was read, whether it was accepted or not. */
  lookedUntil: string;
}

/** Result of a check of a whole chain. */
export interface ChainCheck {
  entries: number;
  /** Number of entries whose personal data was removed by the command forget. */
  forgotten: number;
  /**
   * Id of the first entry that was changed or follows a gap; `the end` when the newest entries, or all, are missing;
   * undefined when the chain is whole.
   */
  broken: string | undefined;
}

export interface StreamLimits {
  maxEntries: number;
  maxAgeMs: number;
}

/**
 * @param options.name family of the stream; the families `<name>Chain`, `<name>Personal` and `<name>First` belong to it
 * @param options.personal properties of an entry that are personal data
 * @param options.blank values that stand in for removed personal data
 */
export function createChainedStream<Entry extends object>(
  { redis, scripts, keys }: { redis: Redis; scripts: Scripts; keys: Keyspace },
  options: {
    name: string;
    /** Script that appends entries, and removes those that exceed the limits. */
    script: string;
    target?: string;
    limits: StreamLimits;
    personal: readonly (keyof Entry & string)[];
    blank?: Partial<Entry>;
  },
) {
  const { name, target, limits } = options;
  const stream = keys.key(name, target);
  const chain = keys.key(`${name}Chain`, target);
  const personal = keys.key(`${name}Personal`, target);
  const first = keys.key(`${name}First`, target);
  const personalNames: ReadonlySet<string> = new Set(options.personal);

  /** Returns entries and limits as scripts take them. */
  const toArgs = (entries: readonly Entry[]): StreamLimits & { entries: SplitEntry[] } => ({
    ...limits,
    entries: entries.map((entry) => splitEntry(entry, personalNames)),
  });

  /** Appends entries. @returns number of removed entries, which exceeded the limits */
  async function append(entries: readonly Entry[]): Promise<number> {
    const [removed] = await scripts.values(options.script, keys.base, { target, log: toArgs(entries) });
    return Number(removed);
  }

  /** Removes entries that exceed the limits. Each script call removes one portion. */
  async function trim(): Promise<void> {
    while ((await append([])) > 0);
  }

  const personalOf = async (ids: string[]): Promise<(string | null)[]> =>
    ids.length === 0 ? [] : redis.hmget(personal, ...ids);

  /** Yields entries in portions, newest first. */
  async function* newest(span: LogSpan = {}): AsyncGenerator<(Entry & Placed)[]> {
    for await (const { entries } of search(span)) yield entries;
  }

  /**
   * Yields the entries of a span that `accepts` selects, in portions, newest first; a portion may be empty.
   * @param accepts gets an entry without its personal data, which is read for accepted entries only; undefined: accepts all
   */
  async function* search(
    span: LogSpan = {},
    accepts?: (entry: Entry) => boolean,
  ): AsyncGenerator<SearchedPortion<Entry & Placed>> {
    const { since = 0 } = span;
    let last = endOf(span);
    for (;;) {
      const count = accepts ? SEARCH_PORTION : PORTION;
      const found = await redis.xrevrange(stream, last, String(since), 'COUNT', count);
      const [oldestId] = found.at(-1) ?? [];
      if (oldestId === undefined) return;
      const accepted = found
        // `e`: the text of the entry (lua/log.lua).
        .map(([id, fields]) => ({ id, text: fieldOf(fields, 'e') ?? '{}' }))
        .filter(({ text }) => accepts?.(JSON.parse(text) as Entry) ?? true);
      for (const portion of inPortions(accepted, PORTION)) {
        yield { entries: await withPersonalData(portion), lookedUntil: portion.at(-1)?.id ?? oldestId };
      }
      yield { entries: [], lookedUntil: oldestId };
      // `(`: older entries than this one.
      last = `(${oldestId}`;
    }
  }

  /** Parses entries and adds their personal data and their place. */
  async function withPersonalData(chained: { id: string; text: string }[]): Promise<(Entry & Placed)[]> {
    const texts = await personalOf(chained.map(({ id }) => id));
    return chained.map(({ id, text }, index) => ({
      ...options.blank,
      ...joinEntry<Entry>(text, texts[index] ?? null),
      id,
      at: timeOf(id),
    }));
  }

  /**
   * Checks all entries and both ends of the chain.
   * @param orders ids of the known orders to forget. Personal data that another order removed breaks the chain; undefined:
   * each order is accepted
   */
  async function verify(orders?: ReadonlySet<string>): Promise<ChainCheck> {
    const reading = await beginWholeRead({ redis, keys });
    try {
      return await checkChain(reading, orders);
    } finally {
      await reading.end();
    }
  }

  async function checkChain({ renew }: WholeRead, orders?: ReadonlySet<string>): Promise<ChainCheck> {
    const check: ChainCheck = { entries: 0, forgotten: 0, broken: undefined };
    let after = '-';
    /** Hash of the entry before the next one; undefined before the first portion. */
    let lastHash: string | undefined;
    for (;;) {
      const { start, end, firstId, found } = await portionAfter(after);
      if (lastHash === undefined && start === '' && firstId !== null) {
        // The limits have not removed any entry yet, so the first entry of the log has to be there.
        const [oldestId] = found[0] ?? [];
        if (oldestId === undefined || timeOf(oldestId) > timeOf(firstId))
          return { ...check, broken: oldestId ?? 'the end' };
      }
      lastHash ??= start;
      const texts = await personalOf(found.map(([id]) => id));
      for (const [index, [id, fields]] of found.entries()) {
        // `e`: the text of the entry. `h`: its hash (lua/log.lua).
        const [text, hash] = [fieldOf(fields, 'e') ?? '{}', fieldOf(fields, 'h') ?? ''];
        const state = checkPersonal(text, texts[index] ?? null);
        const order = orderOf(texts[index] ?? null);
        const isOfUnknownOrder = order !== undefined && orders?.has(order) === false;
        if (chainHash(lastHash, text) !== hash || state === 'altered' || isOfUnknownOrder)
          return { ...check, broken: id };
        if (state === 'forgotten') check.forgotten += 1;
        check.entries += 1;
        lastHash = hash;
      }
      const [lastId] = found.at(-1) ?? [];
      if (lastId === undefined || found.length < PORTION)
        return end === lastHash ? check : { ...check, broken: 'the end' };
      // `(`: newer entries than this one.
      after = `(${lastId}`;
      await renew();
    }
  }

  /**
   * Reads a portion, both ends of the chain and the id of the first entry in one transaction, because entries may be added
   * during the check.
   */
  async function portionAfter(after: string): Promise<{
    /** `''`: the very first entry was not removed by the limits. */
    start: string;
    /** `''`: there was no entry yet. */
    end: string;
    /** null: nothing was appended yet, or only by a release that did not store this id. */
    firstId: string | null;
    found: [id: string, fields: string[]][];
  }> {
    const replies = await redis
      .multi()
      .hmget(chain, 'start', 'end')
      .get(first)
      .xrange(stream, after, '+', 'COUNT', PORTION)
      .exec();
    const [[start, end], firstId, found] = (replies ?? []).map(([error, reply]) => {
      if (error) throw error;
      return reply;
    }) as [
      ends: [string | null, string | null],
      firstId: string | null,
      found: [id: string, fields: string[]][],
    ];
    return { start: start ?? '', end: end ?? '', firstId, found };
  }

  /** Returns the id of the newest entry; undefined when there is none. */
  async function newestId(): Promise<string | undefined> {
    const [newest] = await redis.xrevrange(stream, '+', '-', 'COUNT', 1);
    const [id] = newest ?? [];
    return id;
  }

  /**
   * Returns how far back the stream reaches if older entries were removed; undefined: none was removed.
   * @returns `at`: Unix milliseconds of the oldest entry; absent: all were removed
   */
  async function trimmedTo(): Promise<{ at?: number } | undefined> {
    // The hash before the oldest entry (lua/log.lua); the very first entry has none before it.
    if (!(await redis.hget(chain, 'start'))) return undefined;
    const [oldest] = await redis.xrange(stream, '-', '+', 'COUNT', 1);
    const [id] = oldest ?? [];
    return id === undefined ? {} : { at: timeOf(id) };
  }

  return { limits, toArgs, append, trim, newest, search, newestId, trimmedTo, verify };
}

/** Returns the end of a range as XREVRANGE takes it: the older of both ends of the span. */
function endOf({ until = Infinity, before, withBefore }: LogSpan): string {
  if (before !== undefined && timeOf(before) <= until) return withBefore ? before : `(${before}`;
  return until === Infinity ? '+' : String(until);
}

/** Returns the time in the id of an entry, Unix milliseconds. */
export const timeOf = (id: string): number => Number(id.slice(0, id.indexOf('-')));

const chainHash = (before: string, text: string): string => digest('sha1', before + text);
