// Appends entries to a log and reads them: a Redis stream with a hash chain (lua/log.lua writes it, chain-check.ts checks it).
// Personal data of an entry is stored apart from the stream, so that it can be removed without a break of the chain.
import { fieldOf, inPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';
import { timeOf } from '../redis/stream-id.ts';
import { checkChain, type ChainCheck, type OrderTest } from './chain-check.ts';
import { joinEntry, splitEntry, type SplitEntry } from './split-entry.ts';

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
  /** Id of an entry: only older entries are read. */
  before?: string | undefined;
  /** Whether the entry with the id `before` is read too. */
  withBefore?: boolean;
}

/** Result of one read of a search. */
export interface SearchedPortion<Entry> {
  /** The accepted entries, newest first. */
  entries: Entry[];
  /** Id of an entry: the search has looked at it, accepted or not, and at all newer entries of the span. */
  searchedTo: string;
}

/** Entries beyond these limits are removed, oldest first. */
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
  { redis, scripts, keys }: StoreDeps,
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
  const log = {
    stream: keys.key(name, target),
    chain: keys.key(`${name}Chain`, target),
    personal: keys.key(`${name}Personal`, target),
    first: keys.key(`${name}First`, target),
  };
  const { stream, chain, personal } = log;
  const personalNames: ReadonlySet<string> = new Set(options.personal);

  /** Returns the argument `log` of scripts that append entries: the entries and the limits. */
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
    let last = newestOf(span);
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
        yield { entries: await withPersonalData(portion), searchedTo: portion.at(-1)?.id ?? oldestId };
      }
      yield { entries: [], searchedTo: oldestId };
      // `(`: older entries than this one.
      last = `(${oldestId}`;
    }
  }

  /** Parses entries, and adds their personal data, ids and times. */
  async function withPersonalData(chained: { id: string; text: string }[]): Promise<(Entry & Placed)[]> {
    const texts = chained.length === 0 ? [] : await redis.hmget(personal, ...chained.map(({ id }) => id));
    return chained.map(({ id, text }, index) => ({
      ...options.blank,
      ...joinEntry<Entry>(text, texts[index] ?? null),
      id,
      at: timeOf(id),
    }));
  }

  /** Checks the whole log. @param isOrder as `checkChain` takes it */
  const verify = async (isOrder?: OrderTest): Promise<ChainCheck> =>
    checkChain({ redis, scripts, keys }, log, isOrder);

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
    // `start`: the hash before the oldest entry (lua/log.lua). There is no such hash while the very first entry is still there.
    if (!(await redis.hget(chain, 'start'))) return undefined;
    const [oldest] = await redis.xrange(stream, '-', '+', 'COUNT', 1);
    const [id] = oldest ?? [];
    return id === undefined ? {} : { at: timeOf(id) };
  }

  return { limits, toArgs, append, trim, newest, search, newestId, trimmedTo, verify };
}

/** Returns where XREVRANGE begins, at the newest entry of the span: `before` or `until`, whichever is older. */
function newestOf({ until = Infinity, before, withBefore }: LogSpan): string {
  if (before !== undefined && timeOf(before) <= until) return withBefore ? before : `(${before}`;
  return until === Infinity ? '+' : String(until);
}
