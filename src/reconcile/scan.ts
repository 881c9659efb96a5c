// Walks a list of the platform page by page, several pages at a time, and goes on where a page fails: what could be read
// is still worth comparing. Whether the whole was read is the proof's to say (list-proof.ts).
import { AnswerTooLarge } from '../platform/errors.ts';
import { backoffMs } from '../support/backoff.ts';
import type { Clock } from '../support/sources.ts';
import type { ListedPage, ProofKeeper } from './list-proof.ts';

export interface ScanOptions {
  clock: Clock;
  signal: AbortSignal;
  random: () => number;
  /** Resources per page; the platform may lower it. */
  count: number;
  /** Pages asked for at the same time. */
  inFlight: number;
}

/** One page; `tooLarge` when fewer resources have to be asked for; nothing when it could not be read well. */
type Fetched<T> = ListedPage<T> | 'tooLarge' | undefined;

/** Pages under way or waiting for an earlier one, by pages under way: memory stays bounded when one is late. */
const AHEAD = 2;
const ATTEMPTS = 3;
const BACKOFF = { baseMs: 500, maxMs: 5000 };
/** A page that is too large is read in so many parts. */
const PARTS = 8;
/** After so many unreadable pages in a row the walk ends: a platform that counts millions must not hold it for days. */
const MOST_UNREADABLE = 20;
const ONE_TOO_LARGE = 'a page with one resource is too large to be read';

/**
 * Yields what each page holds that did not come before, in order. A page that fails, or that is shorter than it should
 * be, is asked for again; if that does not help the proof fails and the walk goes on. A page that is too large is read in
 * parts.
 */
export async function* scanList<T extends { id: string }>(
  fetchPage: (startIndex: number, count: number, signal: AbortSignal) => Promise<ListedPage<T>>,
  proof: ProofKeeper<T>,
  options: ScanOptions,
): AsyncGenerator<T[], void, undefined> {
  const { signal, inFlight } = options;
  const first = await firstPage(fetchPage, proof, options);
  if (first === undefined) return;
  yield proof.accept(first);
  const size = first.resources.length;
  const total = first.totalResults;
  if (size === 0) return;
  const read = (startIndex: number, count: number): Promise<Fetched<T>> => {
    const wanted = Math.min(count, total - startIndex + 1);
    const fetch = () => fetchPage(startIndex, count, signal);
    return insist(fetch, proof, options, (found) => found >= wanted);
  };
  const window: { startIndex: number; page: Promise<Fetched<T>> }[] = [];
  let next = 1 + size;
  let underWay = 0;
  const fill = (): void => {
    while (underWay < inFlight && window.length < inFlight * AHEAD && next <= total) {
      const startIndex = next;
      // The next page is requested as soon as any page has arrived, even if an earlier one is late.
      const page = read(startIndex, size).finally(() => {
        underWay--;
        fill();
      });
      page.catch(() => undefined); // awaited below, or dropped when the walk ends early
      window.push({ startIndex, page });
      underWay++;
      next += size;
    }
  };

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
      fill();
      const page = window.shift();
      if (page === undefined) return;
      const found = await page.page;
      const isEmpty = found === undefined || (found !== 'tooLarge' && found.resources.length === 0);
      unreadable = isEmpty ? unreadable + 1 : 0;
      if (found === 'tooLarge') yield* inParts(page.startIndex, size);
      else if (found !== undefined) yield proof.accept(found);
    }
  } finally {
    next = Infinity;
  }
}

/** The first page with as many resources as fit in an answer. */
async function firstPage<T extends { id: string }>(
  fetchPage: (startIndex: number, count: number, signal: AbortSignal) => Promise<ListedPage<T>>,
  proof: ProofKeeper<T>,
  options: ScanOptions,
): Promise<ListedPage<T> | undefined> {
  for (let { count } = options; ; count = Math.ceil(count / PARTS)) {
    const fetch = () => fetchPage(1, count, options.signal);
    const found = await insist(fetch, proof, options, enough(count));
    if (found !== 'tooLarge') return found;
    if (count > 1) continue;
    proof.fail(ONE_TOO_LARGE);
    return undefined;
  }
}

/** The first page shows how far the platform lowers `count`, so only an empty one is suspicious. */
const enough =
  (count: number) =>
  (found: number, total: number): boolean =>
    found > 0 || total === 0 || count === 0;

async function insist<T extends { id: string }>(
  fetch: () => Promise<ListedPage<T>>,
  proof: ProofKeeper<T>,
  { clock, signal, random }: ScanOptions,
  isEnough: (found: number, total: number) => boolean,
): Promise<Fetched<T>> {
  let best: ListedPage<T> | undefined;
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
      fault = `a page could not be read: ${(error as Error).message}`;
    }
    if (attempt < ATTEMPTS) await clock.sleep(backoffMs(attempt, BACKOFF, random), signal);
  }
  proof.fail(fault);
  return best;
}
