// Defines the slots of the history: each range is a ring of slots of one length, so that its space does not grow. Pure.

export interface SlotSpan {
  /** Length of a slot in milliseconds. */
  stepMs: number;
  /** Number of slots of the ring. */
  slots: number;
}

export const HISTORY_RANGES = {
  '1h': { stepMs: 10_000, slots: 360 },
  '1d': { stepMs: 300_000, slots: 288 },
  '30d': { stepMs: 7_200_000, slots: 360 },
} as const satisfies Record<string, SlotSpan>;
export type HistoryRange = keyof typeof HISTORY_RANGES;

/**
 * Columns of a ring in stored order; a new column goes to the end. The values that processes note for one slot are summed in a
 * column `count`; a column `level` keeps the greatest of them. `lagMs`: age of the oldest change that is not applied.
 * `deactivation` to `reconcile`: waiting marks by priority. `held`: changes that the guard holds. `drift`: differences that the
 * last run found at the platform. `inflight`: resources in the queue or with a worker.
 */
export const HISTORY_COLUMNS = {
  connection: {
    pushes: 'count',
    pushesRefused: 'count',
  },
  target: {
    calls: 'count',
    callsRefused: 'count',
    callsFailed: 'count',
    lagMs: 'level',
    deactivation: 'level',
    edit: 'level',
    new: 'level',
    reconcile: 'level',
    held: 'level',
    deadLetters: 'level',
    exceptions: 'level',
    drift: 'level',
    inflight: 'level',
  },
} as const;
/** Kind of a ring: the history of a connection, or of a target. */
export type RingKind = keyof typeof HISTORY_COLUMNS;
export type HistoryColumn<Kind extends RingKind> = keyof (typeof HISTORY_COLUMNS)[Kind] & string;
/** Values by column; an absent one leaves its column as it is. */
export type HistoryValues<Kind extends RingKind> = Partial<Record<HistoryColumn<Kind>, number>>;
/** One value for each slot, the oldest first; null: no value was stored in the slot. */
export type Series = (number | null)[];

/** Returns the start of the oldest slot of a ring whose newest slot is the current one, Unix milliseconds. */
export const startOf = ({ stepMs, slots }: SlotSpan, now: number): number =>
  (Math.floor(now / stepMs) - slots + 1) * stepMs;

/** Encodes the values of one slot: in the order of the columns, separated by commas; an absent value is an empty text. */
export const encodeValues = <Kind extends RingKind>(kind: Kind, values: HistoryValues<Kind>): string =>
  Object.keys(HISTORY_COLUMNS[kind])
    .map((name) => (values as Record<string, number | undefined>)[name])
    .map((value) => (value === undefined ? '' : String(Math.max(0, Math.round(value)))))
    .join(',');

/**
 * Decodes a ring. A position with an older slot number was not overwritten, and counts as empty.
 * @param places position in the ring → `slot,value,value`
 */
export function decodeRing<Kind extends RingKind>(
  kind: Kind,
  places: ReadonlyMap<string, string>,
  span: SlotSpan,
  now: number,
): Record<HistoryColumn<Kind>, Series> {
  const { stepMs, slots } = span;
  const first = startOf(span, now) / stepMs;
  const rows = Array.from({ length: slots }, (_, index) => {
    const slot = first + index;
    const [number, ...values] = (places.get(String(slot % slots)) ?? '').split(',');
    return number === String(slot) ? values : [];
  });
  const columns = Object.keys(HISTORY_COLUMNS[kind]).map((name, column) => [
    name,
    rows.map((values) => (values[column] ? Number(values[column]) : null)),
  ]);
  return Object.fromEntries(columns) as Record<HistoryColumn<Kind>, Series>;
}

/** Returns the sum of several series slot by slot; null for a slot that is null in all of them. */
export const addSeries = (all: readonly Series[]): Series =>
  (all[0] ?? []).map((_, slot) => {
    const values = all.flatMap((series) => series[slot] ?? []);
    return values.length === 0 ? null : values.reduce((sum, each) => sum + each, 0);
  });
