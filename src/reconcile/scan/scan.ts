// Reads a list of the platform with several pages in parallel, and continues after a failed page. `scanList` yields the pages in
// order: `firstPage` tells the page size and the total, `readAhead` requests the pages after it, `insist` requests each page
// again after a failure. list-proof.ts decides whether the list is complete.
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import { AnswerTooLarge } from '../../platform/errors.ts';
import type { ListPage } from '../../platform/readers.ts';
import { backoffMs } from '../../support/backoff.ts';
import type { Clock } from '../../support/sources.ts';
import type { ProofKeeper } from './list-proof.ts';

interface ScanOptions {
  clock: Clock;
  signal: AbortSignal;
  random: () => number;
  /** Requested page size; the platform may lower it. */
  count: number;
  /** Number of concurrent page requests. */
  inFlight: number;
}

/** A page. `tooLarge`: the answer was too large, so fewer resources have to be requested. Undefined: every request failed. */
type Fetched<T> = ListPage<T> | 'tooLarge' | undefined;

/** Largest number of pages in memory, as a multiple of the concurrent requests. It is reached when an earlier page is late. */
const AHEAD = 2;
/** Largest number of requests of one page. */
const ATTEMPTS = 3;
/** Waits between the requests of one page. */
const BACKOFF = { baseMs: 500, maxMs: 5000 };
/** Number of parts in which a page that is too large is read. */
const PARTS = 8;
/** Number of consecutive unreadable pages after which the scan ends, so that a wrong total cannot keep it running. */
const MOST_UNREADABLE = 20;
const ONE_TOO_LARGE = 'a page with one resource is too large to be read';

/**
 * Yields the new resources of each page in order. A page that fails or is too short is requested again; after that the
 * proof fails and the scan continues. A page that is too large is read in parts.
 */
export async function* scanList<T extends { id: string }>(
  fetchPage: (startIndex: number, count: number, signal: AbortSignal) => Promise<ListPage<T>>,
  proof: ProofKeeper<T>,
  options: ScanOptions,
): AsyncGenerator<T[], void, undefined> {
  const { signal, inFlight } = options;
  const first = await firstPage(fetchPage, proof, options);
  if (first === undefined) return;
  yield proof.accept(first);
  const size = first.resources.length;
  const total = first.totalResults;
  // The list is empty, or the first page stayed empty after all attempts, which the proof has recorded.
  if (size === 0) return;
  const read = (startIndex: number, count: number): Promise<Fetched<T>> => {
    const wanted = Math.min(count, total - startIndex + 1);
    const fetch = () => fetchPage(startIndex, count, signal);
    return insist(fetch, proof, options, (found) => found >= wanted);
  };
  const ahead = readAhead(read, { firstIndex: 1 + size, size, total, inFlight });

  /** Reads a range that is too large as one page, in ever smaller parts. */
  async function* inParts(startIndex: number, count: number): AsyncGenerator<T[], void, undefined> {
    if (count === 1) {
      proof.fail(ONE_TOO_LARGE);
      return;
    }
    const end = Math.min(startIndex + count, total + 1);
    const part = Math.ceil(count / PARTS);
    for (let at = startIndex; at < end; at += part) {
      const found = await read(at, Math.min(part, end - at));
      if (found === 'tooLarge') yield* inParts(at, Math.min(part, end - at));
      else if (found !== undefined) yield proof.accept(found);
    }
  }

  let unreadable = 0;
  try {
    while (unreadable < MOST_UNREADABLE) {
      const page = ahead.next();
      if (page === undefined) return;
      const found = await page.page;
      const isEmpty = found === undefined || (found !== 'tooLarge' && found.resources.length === 0);
      unreadable = isEmpty ? unreadable + 1 : 0;
      if (found === 'tooLarge') yield* inParts(page.startIndex, size);
      else if (found !== undefined) yield proof.accept(found);
    }
  } finally {
    ahead.stop();
  }
}

/** Requests pages before they are needed, up to `inFlight` at a time, and keeps them in order. */
function readAhead<T>(
  read: (startIndex: number, count: number) => Promise<Fetched<T>>,
  {
    firstIndex,
    size,
    total,
    inFlight,
  }: { firstIndex: number; size: number; total: number; inFlight: number },
) {
  /** Requested pages that were not taken yet, also those under way. */
  const pages: { startIndex: number; page: Promise<Fetched<T>> }[] = [];
  let nextIndex = firstIndex;
  let underWay = 0;
  const fill = (): void => {
    while (underWay < inFlight && pages.length < inFlight * AHEAD && nextIndex <= total) {
      const startIndex = nextIndex;
      // The next page is requested as soon as any page has arrived, even if an earlier one is late.
      const page = read(startIndex, size).finally(() => {
        underWay--;
        fill();
      });
      page.catch(() => undefined); // awaited by the scan, or dropped when the scan ends early
      pages.push({ startIndex, page });
      underWay++;
      nextIndex += size;
    }
  };
  return {
    /** Returns the next page, which may still be under way; undefined at the end of the list. */
    next: (): { startIndex: number; page: Promise<Fetched<T>> } | undefined => {
      fill();
      return pages.shift();
    },
    /** Requests no further page. */
    stop: (): void => {
      nextIndex = Infinity;
    },
  };
}

/** Reads the first page, with fewer resources if the answer is too large. */
async function firstPage<T extends { id: string }>(
  fetchPage: (startIndex: number, count: number, signal: AbortSignal) => Promise<ListPage<T>>,
  proof: ProofKeeper<T>,
  options: ScanOptions,
): Promise<ListPage<T> | undefined> {
  for (let { count } = options; ; count = Math.ceil(count / PARTS)) {
    const fetch = () => fetchPage(1, count, options.signal);
    const found = await insist(fetch, proof, options, isEnoughAtFirst);
    if (found !== 'tooLarge') return found;
    if (count > 1) continue;
    proof.fail(ONE_TOO_LARGE);
    return undefined;
  }
}

/** Returns whether the first page has enough resources. The platform may lower the page size, so a short page is accepted. */
const isEnoughAtFirst = (found: number, total: number): boolean => found > 0 || total === 0;

/**
 * Requests a page up to ATTEMPTS times. If none is good enough, the proof fails and the largest page is returned.
 * @throws an error of Redis at the last attempt: Redis keeps the budget of calls, so the platform was not asked
 */
async function insist<T extends { id: string }>(
  fetch: () => Promise<ListPage<T>>,
  proof: ProofKeeper<T>,
  { clock, signal, random }: ScanOptions,
  isEnough: (found: number, total: number) => boolean,
): Promise<Fetched<T>> {
  let best: ListPage<T> | undefined;
  let fault = 'a page was short before the end';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    signal.throwIfAborted();
    try {
      const page = await fetch();
      if (best === undefined || page.resources.length > best.resources.length) best = page;
      if (isEnough(page.resources.length, page.totalResults)) return page;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AnswerTooLarge) return 'tooLarge';
      if (isStoreFailure(error) && attempt === ATTEMPTS) throw error;
      fault = `a page could not be read: ${(error as Error).message}`;
    }
    if (attempt < ATTEMPTS) await clock.sleep(backoffMs(attempt, BACKOFF, random), signal);
  }
  proof.fail(fault);
  return best;
}
