// Defines the metrics of loads and of the schedule of reconciles: name, help text and labels.

/**
 * Help text of metrics that are read from Redis: every process reports the same value, so a sum would count it
 * several times.
 */
export const SHARED_HELP = 'The same from every process: take max(), not sum().';

export const LOAD_METRICS = {
  loadDone: {
    type: 'gauge',
    name: 'bridge_load_done',
    labels: ['target'],
    help: `While many changes wait, as in a first load: resources that left the backlog since it began; absent otherwise. ${SHARED_HELP}`,
  },
  loadTotal: {
    type: 'gauge',
    name: 'bridge_load_total',
    labels: ['target'],
    help: `Resources of the load, done and left; absent while nothing loads. ${SHARED_HELP}`,
  },
  loadRate: {
    type: 'gauge',
    name: 'bridge_load_rate',
    labels: ['target'],
    help: `Resources of the load that are done in a second, over the last minute; absent while nothing loads. ${SHARED_HELP}`,
  },
  reconcileGap: {
    type: 'gauge',
    name: 'bridge_reconcile_expected_gap_seconds',
    labels: [],
    help: `Longest time between two reconciles by reconcile.schedule, or by reconcile.expectedSchedule; absent without both. ${SHARED_HELP}`,
  },
  reconcileAwaitedSince: {
    type: 'gauge',
    name: 'bridge_reconcile_awaited_since_timestamp_seconds',
    labels: ['target'],
    help: `Since when the first complete comparison is expected by a schedule, in Unix seconds, over all restarts; absent once one has succeeded. ${SHARED_HELP}`,
  },
  reconcileFailures: {
    type: 'gauge',
    name: 'bridge_reconcile_failures',
    labels: ['target'],
    help: `Reconciles in a row that failed, or whose reads of the platform were not complete. ${SHARED_HELP}`,
  },
} as const;
