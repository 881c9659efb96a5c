// Counts durations for a histogram with one label; cheap enough for each request, because counts are plain numbers in arrays.

export interface Timer {
  /** Returns a function that records one value under the label. */
  of: (label: string) => (value: number) => void;
  /**
   * Returns the samples `{metricName, labels, value}` of each label: cumulative buckets, sum and count. The registry reads
   * them (metrics.ts).
   */
  samples: () => object[];
  reset: () => void;
}

export function createTimer({
  name,
  labels: [labelName],
  buckets,
}: {
  name: string;
  labels: readonly [string];
  buckets: readonly number[];
}): Timer {
  const rows = new Map<string, { counts: number[]; sum: number }>();
  const samples = (): object[] =>
    [...rows].flatMap(([label, { counts, sum }]) => {
      const of = { [labelName]: label };
      let upTo = 0;
      const found = [...buckets, '+Inf'].map((le, index) => {
        upTo += counts[index] ?? 0;
        return { metricName: `${name}_bucket`, labels: { le, ...of }, value: upTo };
      });
      const whole = [`${name}_sum`, `${name}_count`].map((metricName, index) => ({
        metricName,
        labels: of,
        value: index === 0 ? sum : upTo,
      }));
      return [...found, ...whole];
    });
  return {
    samples,
    reset: () => rows.clear(),
    of: (label) => {
      const row = rows.get(label) ?? { counts: new Array<number>(buckets.length + 1).fill(0), sum: 0 };
      rows.set(label, row);
      return (value) => {
        let index = 0;
        while (index < buckets.length && value > (buckets[index] ?? Infinity)) index++;
        row.counts[index] = (row.counts[index] ?? 0) + 1;
        row.sum += value;
      };
    },
  };
}
