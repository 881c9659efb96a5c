// Tells which ids the whole list of the platform does not show. One list serves all syncs that asked before it began: where a
// tenant was emptied, thousands of people ask at once.
import type { ListPage } from '../../platform/readers.ts';
import type { CallOptions } from '../../platform/client.ts';
import type { Clock } from '../../support/sources.ts';
import { settledWithin } from '../../support/within.ts';
import { readWholeList } from './whole-list.ts';

/** `listed`: the list has the id. `unproven`: the list could not be read whole. `awaited`: the list is not read yet. */
export type Shown = 'missing' | 'listed' | 'unproven' | 'awaited';

export interface MissingIds {
  /** Returns what a whole list says about the id that began after the first call with this id. Call it after a 404 of the id. */
  look(id: string, signal: AbortSignal): Promise<Shown>;
}

/** Longest time that a sync waits for a list; later it asks again. */
const LIST_WAIT_MS = 1000;
/** A list begins this many times the reading time of the one before after its end, so that more syncs have asked by then. */
const PAUSE_PER_READING = 4;
const LONGEST_PAUSE_MS = 60_000;
/** Most ids that are remembered; those that asked first are forgotten first. */
const MOST_ASKED = 100_000;

/** Creates the store for one list of one target. @param list reads one page */
export function createMissingIds(
  list: (
    range: { startIndex: number; count: number },
    call: CallOptions,
  ) => Promise<ListPage<{ id: string }>>,
  clock: Clock,
): MissingIds {
  /** Number of lists that began. */
  let begun = 0;
  /** The last list that ended, by its number; without `ids` it could not be read whole. */
  let last: { number: number; ids: Set<string> | undefined } = { number: 0, ids: undefined };
  /** Ends with the next list that begins. */
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  let pauseMs = 0;
  /** Id → number of lists that had begun when the id was asked for. */
  const asked = new Map<string, number>();

  async function read(signal: AbortSignal): Promise<void> {
    const number = ++begun;
    const startedAt = clock.now();
    const ids = new Set<string>();
    const found = await readWholeList(
      (range) => list(range, { signal }),
      (added) => added.forEach(({ id }) => ids.add(id)),
    ).catch(() => 'unproven');
    last = { number, ids: found === 'read' ? ids : undefined };
    pauseMs = Math.min(LONGEST_PAUSE_MS, PAUSE_PER_READING * (clock.now() - startedAt));
  }

  /** Returns the end of the next list that begins. */
  function nextList(signal: AbortSignal): Promise<void> {
    next ??= running
      .then(() => clock.sleep(pauseMs, signal))
      .then(() => {
        next = undefined;
        running = read(signal);
        return running;
      });
    return next;
  }

  /** Returns what the last list says; undefined: it began before the id was asked for. */
  function inLast(id: string): Exclude<Shown, 'awaited'> | undefined {
    if (last.number <= (asked.get(id) ?? Infinity)) return undefined;
    if (!last.ids) return 'unproven';
    return last.ids.has(id) ? 'listed' : 'missing';
  }

  return {
    look: async (id, signal) => {
      if (!asked.has(id)) {
        const [oldest] = asked.keys();
        if (asked.size >= MOST_ASKED && oldest !== undefined) asked.delete(oldest);
        asked.set(id, begun);
      }
      if (inLast(id) === undefined) await settledWithin(clock, nextList(signal), LIST_WAIT_MS);
      const shown = inLast(id);
      if (shown === undefined) return 'awaited';
      asked.delete(id);
      // The ids take memory, and nobody waits for them.
      if (asked.size === 0) last.ids = undefined;
      return shown;
    },
  };
}
