// Walks a list of the platform page by page, several pages at a time, and goes on where a page fails: what could be read
// is still worth comparing. Whether the whole was read is the proof's to say (proof.ts).
import { backoffMs } from '../support/backoff.ts';
import type { Clock } from '../support/clock.ts';
import type { Page, ProofKeeper } from './proof.ts';

export interface WalkOptions {
  clock: Clock;
  signal: AbortSignal;
  random: () => number;
  /** Resources per page; the platform may lower it. */
  count: number;
  /** Pages asked for at the same time. */
  inFlight: number;
}

/** One page, or nothing when it could not be read well. */
type Fetched<T> = Page<T> | undefined;

/** Pages under way or waiting for an earlier one, by pages under way: memory stays bounded when one is late. */
const AHEAD = 2;
const ATTEMPTS = 3;
const BACKOFF = { baseMs: 500, maxMs: 5000 };

/**
 * Yields what each page holds that did not come before, in order. A page that fails, or that is shorter than it should
 * be, is asked for again; if that does not help the proof fails and the walk goes on.
 */
export async function* walkList<T extends { id: string }>(
  fetchPage: (startIndex: number, count: number, signal: AbortSignal) => Promise<Page<T>>,
  proof: ProofKeeper<T>,
  options: WalkOptions,
): AsyncGenerator<T[], void, undefined> {
  const { signal, count, inFlight } = options;
  const first = await insist(() => fetchPage(1, count, signal), proof, options, enough(count));
  if (first === undefined) return;
  yield proof.accept(first);
  const size = first.resources.length;
  if (size === 0) return;
  const window: Promise<Fetched<T>>[] = [];
  let next = 1 + size;
  let underWay = 0;
  const fill = (): void => {
    while (underWay < inFlight && window.length < inFlight * AHEAD && next <= first.totalResults) {
      const startIndex = next;
      const wanted = Math.min(size, first.totalResults - startIndex + 1);
      const fetch = () => fetchPage(startIndex, size, signal);
      // What comes next is asked for as soon as any page is here, even if one before it is late.
      const page = insist(fetch, proof, options, (found) => found >= wanted).finally(() => {
        underWay--;
        fill();
      });
      page.catch(() => undefined); // awaited below, or dropped when the walk ends early
      window.push(page);
      underWay++;
      next += size;
    }
  };
  try {
    for (;;) {
      fill();
      const page = window.shift();
      if (page === undefined) return;
      const found = await page;
      if (found !== undefined) yield proof.accept(found);
    }
  } finally {
    next = Infinity;
  }
}

/** The first page shows how far the platform lowers `count`, so only an empty one is suspicious. */
const enough =
  (count: number) =>
  (found: number, total: number): boolean =>
    found > 0 || total === 0 || count === 0;

async function insist<T extends { id: string }>(
  fetch: () => Promise<Page<T>>,
  proof: ProofKeeper<T>,
  { clock, signal, random }: WalkOptions,
  isEnough: (found: number, total: number) => boolean,
): Promise<Fetched<T>> {
  let best: Fetched<T>;
  let fault = 'a page was short before the end';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    signal.throwIfAborted();
    try {
      const page = await fetch();
      if (best === undefined || page.resources.length > best.resources.length) best = page;
      if (isEnough(page.resources.length, page.totalResults)) return page;
    } catch (error) {
      signal.throwIfAborted();
      fault = `a page could not be read: ${(error as Error).message}`;
    }
    if (attempt < ATTEMPTS) await clock.sleep(backoffMs(attempt, BACKOFF, random), signal);
  }
  proof.fail(fault);
  return best;
}
