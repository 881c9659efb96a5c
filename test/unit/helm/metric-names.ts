// Lists the metrics that the bridge exports.
import { METRICS } from '../../../src/support/metrics.ts';

/** Names of the series that are scraped. */
export const SERIES: readonly string[] = Object.values(METRICS).flatMap(({ name, type }) =>
  type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
);

/** Labels of a series, `le` of a bucket included; undefined when there is no such series. */
export function labelsOf(series: string): readonly string[] | undefined {
  const found = Object.values(METRICS).find(({ name, type }) =>
    type === 'histogram'
      ? series.startsWith(`${name}_`) && /_(bucket|sum|count)$/.test(series.slice(name.length))
      : series === name,
  );
  return found && [...found.labels, ...(series.endsWith('_bucket') ? ['le'] : [])];
}

export const seriesIn = (expression: string): string[] => expression.match(/\bbridge_[a-z_]+/g) ?? [];
