// Tells which ids the whole list of the platform does not show. One list serves all syncs that asked before it began: after a
// tenant was emptied, thousands of syncs ask at once. The lists have numbers in the order in which they begin. Each id that is
// asked for is stored with the number of lists that had begun then, so a list with a higher number tells about the id
// (`tellsAbout`).
import type { ListPage } from '../../platform/readers.ts';
import type { CallOptions } from '../../platform/client.ts';
import type { Clock } from '../../support/sources.ts';
import { timeLimit } from '../../support/time-limit.ts';
import { settledWithin } from '../../support/within.ts';
import { readWholeList } from './whole-list.ts';

/** `listed`: the list has the id. `unproven`: the list could not be read whole. `awaited`: the list is not read yet. */
type Shown = 'missing' | 'listed' | 'unproven' | 'awaited';

export type MissingIds = ReturnType<typeof createMissingIds>;

/** Longest time that a sync waits for a list. A sync without an answer is tried again later, and then asks again. */
const LIST_WAIT_MS = 1000;
/** Pause between two lists, as a multiple of the time that reading the first took. By the pause, one list serves more syncs. */
const PAUSE_PER_READING = 4;
const LONGEST_PAUSE_MS = 60_000;
/** Longest time for reading one list. */
const LONGEST_READING_MS = 600_000;
/** Most ids that are remembered; those that were asked for first are forgotten first. */
const MOST_ASKED = 100_000;

/** Returns the time between the end of a list and the start of the next one, milliseconds. @param tookMs its reading time */
const pauseAfter = (tookMs: number): number => Math.min(LONGEST_PAUSE_MS, PAUSE_PER_READING * tookMs);

/** Creates the store for one list of one target. @param list reads one page */
export function createMissingIds(
  list: (
    range: { startIndex: number; count: number },
    call: CallOptions,
  ) => Promise<ListPage<{ id: string }>>,
  clock: Clock,
) {
  /** Number of lists that began. */
  let begun = 0;
  /** The last list that ended, by its number. Without `ids`, it could not be read whole, or no sync waits for it any more. */
  let last: { number: number; ids: Set<string> | undefined } = { number: 0, ids: undefined };
  /** Resolves when the next list that begins was read. */
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  /** When the running list began; undefined: none runs. */
  let startedAt: number | undefined;
  /** When the last list ended, and how long its reading took. */
  let end = { at: Number.NEGATIVE_INFINITY, tookMs: 0 };
  /** Id → number of lists that had begun when the id was asked for. */
  const asked = new Map<string, number>();
  /** Number of calls of `look` that have not ended. */
  let looking = 0;

  async function read(): Promise<void> {
    const number = ++begun;
    startedAt = clock.now();
    // The list has its own signal: that of one sync must not end a list that other syncs await too.
    const signal = timeLimit(LONGEST_READING_MS);
    const ids = new Set<string>();
    const found = await readWholeList(
      (range) => list(range, { signal }),
      (added) => added.forEach(({ id }) => ids.add(id)),
    ).catch(() => 'unproven');
    last = { number, ids: found === 'read' ? ids : undefined };
    end = { at: clock.now(), tookMs: clock.now() - startedAt };
    startedAt = undefined;
  }

  /** Returns a promise that resolves when the next list that begins was read. */
  function nextList(): Promise<void> {
    next ??= running
      .then(() => clock.sleep(Math.max(0, end.at + pauseAfter(end.tookMs) - clock.now())))
      .then(() => {
        next = undefined;
        running = read();
        return running;
      });
    return next;
  }

  /** Returns the least time until the next list is read, if it takes as long as the one before. */
  function leftMs(): number {
    const now = clock.now();
    const tookMs = startedAt === undefined ? end.tookMs : now - startedAt;
    const endedAt = startedAt === undefined ? end.at : now;
    return Math.max(0, endedAt + pauseAfter(tookMs) - now) + tookMs;
  }

  /** Returns the number of lists that had begun when the id was asked for. */
  function numberOf(id: string): number {
    const known = asked.get(id);
    if (known !== undefined) return known;
    const [oldest] = asked.keys();
    if (asked.size >= MOST_ASKED && oldest !== undefined) asked.delete(oldest);
    asked.set(id, begun);
    return begun;
  }

  /** Returns what the last list shows; undefined: it does not tell about the id. @param number of `numberOf` */
  function inLast(id: string, number: number): Exclude<Shown, 'awaited'> | undefined {
    if (last.number <= number) return undefined;
    if (!last.ids) return 'unproven';
    return last.ids.has(id) ? 'listed' : 'missing';
  }

  /** Waits for the list that tells about an id, unless it cannot end in time. @param number of `numberOf` */
  async function wait(number: number, signal: AbortSignal): Promise<void> {
    // The list that began last is the running one, if one runs.
    const isRunning = startedAt !== undefined && begun > number;
    const done = isRunning ? running : nextList();
    if (signal.aborted || (!isRunning && leftMs() > LIST_WAIT_MS)) return;
    await settledWithin(clock, done, LIST_WAIT_MS);
  }

  return {
    /**
     * Returns whether a whole list that began after the first call with this id shows the id. Call it after a 404 for the id. When
     * `signal` aborts, the list goes on for the next call.
     */
    look: async (id: string, signal: AbortSignal): Promise<Shown> => {
      // Read before the wait, because another call with this id may end first and delete the entry of `asked`.
      const number = numberOf(id);
      looking++;
      if (inLast(id, number) === undefined) await wait(number, signal);
      looking--;
      const shown = inLast(id, number);
      if (shown === undefined) return 'awaited';
      if (asked.get(id) === number) asked.delete(id);
      // No other sync waits for this list, so its ids need not be kept.
      if (asked.size === 0 && looking === 0) last.ids = undefined;
      return shown;
    },
  };
}
