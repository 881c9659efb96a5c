// Reads the history of one target: pushes to its connections, calls to it, and gauges by time, such as its backlog.
import type { HistoryStore } from '../../directory/history/history-store.ts';
import {
  addSeries,
  HISTORY_RANGES,
  type HistoryColumn,
  type HistoryRange,
  type Series,
} from '../../directory/history/slots.ts';
import type { Priority } from '../../directory/records.ts';

interface TargetHistory {
  target: string;
  range: HistoryRange;
  /** Start of the first slot, and the present in the last one; Unix milliseconds of Redis. */
  from: number;
  now: number;
  /** Length of a slot in milliseconds. */
  stepMs: number;
  /** Rate limit of the target. */
  requestsPerSecond: number;
  /** `pushes*` and `calls*`: counts of each slot; all others, such as `lagMs`: the greatest value within it (slots.ts). */
  series: Record<'pushes' | 'pushesRefused', Series> &
    Record<Exclude<HistoryColumn<'target'>, Priority>, Series> & {
      /** Number of changes that wait for delivery to the queue, by priority; `inflight`: delivered and running ones. */
      backlog: Record<Priority, Series>;
    };
}

export interface HistorySources {
  store: Pick<HistoryStore, 'read'>;
  /** Returns the names of the connections that feed a target. */
  connectionsOf: (target: string) => readonly string[];
  rateLimitOf: (target: string) => number;
}

/** Reads the series of a target, and adds those of the connections that feed it. */
export async function readTargetHistory(
  { store, connectionsOf, rateLimitOf }: HistorySources,
  target: string,
  range: HistoryRange,
): Promise<TargetHistory> {
  const [ofTarget, ...ofConnections] = await Promise.all([
    store.read('target', target, range),
    ...connectionsOf(target).map((name) => store.read('connection', name, range)),
  ]);
  const { deactivation, edit, new: created, reconcile, ...others } = ofTarget.series;
  return {
    target,
    range,
    from: ofTarget.from,
    now: ofTarget.now,
    stepMs: HISTORY_RANGES[range].stepMs,
    requestsPerSecond: rateLimitOf(target),
    series: {
      pushes: addSeries(ofConnections.map(({ series }) => series.pushes)),
      pushesRefused: addSeries(ofConnections.map(({ series }) => series.pushesRefused)),
      ...others,
      backlog: { deactivation, edit, new: created, reconcile },
    },
  };
}

/** Names of the series of TargetHistory beside `backlog`, for the schema of the admin API. */
export const HISTORY_SERIES = [
  'pushes',
  'pushesRefused',
  'calls',
  'callsRefused',
  'callsFailed',
  'lagMs',
  'inflight',
  'held',
  'deadLetters',
  'exceptions',
  'drift',
] as const;
