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
  const fill = (): void => {
    while (window.length < inFlight && next <= first.totalResults) {
      const startIndex = next;
      const wanted = Math.min(size, first.totalResults - startIndex + 1);
      const page = insist(
        () => fetchPage(startIndex, size, signal),
        proof,
        options,
        (found) => found >= wanted,
      );
      page.catch(() => undefined); // awaited below, or dropped when the walk ends early
      window.push(page);
      next += size;
    }
  };
  for (;;) {
    fill();
    const page = window.shift();
    if (page === undefined) return;
    const found = await page;
    // What comes next is on its way while this page is looked at.
    fill();
    if (found !== undefined) yield proof.accept(found);
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
