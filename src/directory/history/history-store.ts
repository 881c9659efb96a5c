// Stores the history of the operators' page: rings of slots in Redis, one for each range of a connection or target. A ring
// takes 100 kB at most (360 slots of up to 13 numbers), and expires when its newest slot is out of its range. A backup does
// not contain the history; after a restore the plots begin anew.
import { createKeyspace } from '../keys.ts';
import { pairsOf } from '../redis/portions.ts';
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

/** The slots of one ring, as a plot shows them. */
interface ReadRing<Kind extends RingKind> {
  /** Unix milliseconds of Redis. */
  now: number;
  /** Start of the first slot, Unix milliseconds. */
  from: number;
  series: Record<HistoryColumn<Kind>, Series>;
}

/** Pause after which one process reads the levels (slots.ts) again: shorter than a slot, so that each slot has levels. */
const LEVELS_PAUSE_MS = 4000;

export type HistoryStore = ReturnType<typeof createHistoryStore>;

/** @param spans by range; tests give shorter ones */
export function createHistoryStore(
  { scripts }: { scripts: Scripts },
  { prefix, spans = HISTORY_RANGES }: { prefix: string; spans?: Record<HistoryRange, SlotSpan> },
) {
  // The dot keeps these keys apart from those of connections, whose names have no dot.
  const keys = createKeyspace(prefix, 'bridge.history');
  const ranges = Object.entries(spans).map(([name, span]) => ({ name, ...span }));

  /**
   * Adds the values to the current slots. The time of Redis decides which slots these are.
   * @returns whether this process has to read the levels of all targets and add them
   */
  async function note(notes: readonly HistoryNote[]): Promise<boolean> {
    const rings = notes.map(({ kind, name }) => ({
      name: `${kind}.${name}`,
      columnTypes: Object.values(HISTORY_COLUMNS[kind]),
    }));
    const texts = notes.map(({ kind, values }) => encodeValues(kind, values));
    const args = { rings, ranges, pauseMs: LEVELS_PAUSE_MS };
    const [isDue] = await scripts.values('note_history', keys.base, args, ...texts);
    return isDue === 1;
  }

  /** Returns all slots of the ring of one connection or target. */
  async function read<Kind extends RingKind>(
    kind: Kind,
    name: string,
    range: HistoryRange,
  ): Promise<ReadRing<Kind>> {
    const [at, flat] = await scripts.values('read_history', keys.base, { ring: `${range}:${kind}.${name}` });
    const now = Number(at);
    const places = new Map(pairsOf(flat as string[]));
    const span = spans[range];
    return { now, from: startOf(span, now), series: decodeRing(kind, places, span, now) };
  }

  return { note, read };
}
