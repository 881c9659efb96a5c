// Stores the history of the operators' page: rings of slots in Redis, one for each connection, target and range. A ring takes
// 100 kB at most (360 slots of up to 13 numbers) and expires when its newest slot is out of its range. History is no part of a
// backup: without it the plots begin anew.
import { createKeyspace } from '../keys.ts';
import type { Scripts } from '../redis/scripts.ts';
import {
  decodeRing,
  encodeValues,
  HISTORY_COLUMNS,
  HISTORY_RANGES,
  startOf,
  type HistoryColumn,
  type HistoryRange,
  type HistoryValues,
  type RingKind,
  type Series,
  type SlotSpan,
} from './slots.ts';

/** Values of one process for one ring. */
export interface HistoryNote<Kind extends RingKind = RingKind> {
  kind: Kind;
  /** Name of the connection or target. */
  name: string;
  values: HistoryValues<Kind>;
}

export interface ReadRing<Kind extends RingKind> {
  /** Unix milliseconds of Redis. */
  now: number;
  /** Start of the first slot, Unix milliseconds. */
  from: number;
  series: Record<HistoryColumn<Kind>, Series>;
}

/** Pause between two reads of the levels by the whole fleet: shorter than a slot, so that each slot has them. */
const LEVELS_PAUSE_MS = 4000;

export type HistoryStore = ReturnType<typeof createHistoryStore>;

/** @param spans by range; tests give shorter ones */
export function createHistoryStore(
  { scripts }: { scripts: Scripts },
  { prefix, spans = HISTORY_RANGES }: { prefix: string; spans?: Record<HistoryRange, SlotSpan> },
) {
  // No connection can be called so: its name has no dot.
  const keys = createKeyspace(prefix, 'bridge.history');
  const ranges = Object.entries(spans).map(([name, span]) => ({ name, ...span }));

  /**
   * Adds the values to the current slots. The time of Redis decides which slots these are.
   * @returns whether this process has to read the levels of all targets and add them
   */
  async function note(notes: readonly HistoryNote[]): Promise<boolean> {
    const rings = notes.map(({ kind, name }) => ({
      name: `${kind}.${name}`,
      kinds: HISTORY_COLUMNS[kind].map(([, each]) => each),
    }));
    const texts = notes.map(({ kind, values }) => encodeValues(kind, values));
    const order = { rings, ranges, pauseMs: LEVELS_PAUSE_MS };
    const [, isDue] = await scripts.run('note_history', keys.base, order, ...texts);
    return isDue === 1;
  }

  async function read<Kind extends RingKind>(
    kind: Kind,
    name: string,
    range: HistoryRange,
  ): Promise<ReadRing<Kind>> {
    const [, at, flat] = await scripts.run('read_history', keys.base, { ring: `${range}:${kind}.${name}` });
    const now = Number(at);
    const texts = flat as string[];
    const places = new Map<string, string>();
    for (let index = 0; index < texts.length; index += 2)
      places.set(texts[index] ?? '', texts[index + 1] ?? '');
    const span = spans[range];
    return { now, from: startOf(span, now), series: decodeRing(kind, places, span, now) };
  }

  return { note, read };
}
