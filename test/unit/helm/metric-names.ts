// Lists the metrics that the bridge exports.
import { METRICS } from '../../../src/support/metrics.ts';

/** Returns the names of the scraped series. */
export const SERIES: readonly string[] = Object.values(METRICS).flatMap(({ name, type }) =>
  type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
);

/** Returns the labels of a series, with `le` of a bucket; undefined for an unknown series. */
export function labelsOf(series: string): readonly string[] | undefined {
  const found = Object.values(METRICS).find(({ name, type }) =>
    type === 'histogram'
      ? series.startsWith(`${name}_`) && /_(bucket|sum|count)$/.test(series.slice(name.length))
      : series === name,
  );
  return found && [...found.labels, ...(series.endsWith('_bucket') ? ['le'] : [])];
}

export const seriesIn = (expression: string): string[] => expression.match(/\bbridge_[a-z_]+/g) ?? [];
