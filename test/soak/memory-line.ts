// Fits a line through samples of resident memory, to tell a leak from garbage collection.

export interface MemorySample {
  minute: number;
  mb: number;
}

/** @returns MB per minute by least squares; 0 with fewer than two samples */
export function slopeOf(samples: readonly MemorySample[]): number {
  const mean = (of: (sample: MemorySample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const minute = mean((sample) => sample.minute);
  const mb = mean((sample) => sample.mb);
  const spread = samples.reduce((sum, sample) => sum + (sample.minute - minute) ** 2, 0);
  if (samples.length < 2 || spread === 0) return 0;
  return samples.reduce((sum, sample) => sum + (sample.minute - minute) * (sample.mb - mb), 0) / spread;
}
