// Lists the metrics that alerts and the dashboard may read: those that the bridge exports, and those of
// kube-state-metrics about CronJobs.
import { METRICS } from '../../../src/support/metrics.ts';

/** Returns the names of the scraped series. */
export const SERIES: readonly string[] = Object.values(METRICS).flatMap(({ name, type }) =>
  type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
);

/** Metrics of kube-state-metrics; each has the labels of a CronJob. */
export const CRONJOB_SERIES: readonly string[] = [
  'kube_cronjob_created',
  'kube_cronjob_next_schedule_time',
  'kube_cronjob_status_last_schedule_time',
  'kube_cronjob_status_last_successful_time',
];

/** Returns the labels of a series, with `le` of a bucket; undefined for an unknown series. */
export function labelsOf(series: string): readonly string[] | undefined {
  if (CRONJOB_SERIES.includes(series)) return ['cronjob'];
  const found = Object.values(METRICS).find(({ name, type }) =>
    type === 'histogram'
      ? series.startsWith(`${name}_`) && /_(bucket|sum|count)$/.test(series.slice(name.length))
      : series === name,
  );
  return found && [...found.labels, ...(series.endsWith('_bucket') ? ['le'] : [])];
}

export const seriesIn = (expression: string): string[] => expression.match(/\b(?:bridge|kube)_[a-z_]+/g) ?? [];
