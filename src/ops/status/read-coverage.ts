// Reads the coverage of a target, also by a cached reader for callers that poll.
import type { CoverageReader } from '../../directory/outbox/coverage-reader.ts';
import type { CoverageOfKinds } from '../../directory/outbox/runs.ts';
import type { Clock } from '../../support/sources.ts';

/** Reads the coverage; a read takes about a second for 100,000 users. */
export type ReadCoverage = (reader: CoverageReader) => Promise<CoverageOfKinds>;

export const readCoverage: ReadCoverage = async (reader) => ({
  users: await reader.read('User'),
  groups: await reader.read('Group'),
});

/** Pause between two reads as a multiple of the duration of a read, so that a polling page does not load Redis. */
const PAUSE_FACTOR = 20;

/**
 * Returns a cached reader of the coverage. It rests after a read: the next read comes after PAUSE_FACTOR times the duration of the
 * last one.
 */
export function restfulCoverage(clock: Clock): ReadCoverage {
  const known = new Map<CoverageReader, { until: number; coverage: Promise<CoverageOfKinds> }>();
  return (reader) => {
    const recent = known.get(reader);
    if (recent && clock.now() < recent.until) return recent.coverage;
    const startedAt = clock.now();
    // Infinity: all callers during the read share it.
    const entry = { until: Infinity, coverage: readCoverage(reader) };
    known.set(reader, entry);
    const endPause = (): void => {
      entry.until = clock.now() + PAUSE_FACTOR * (clock.now() - startedAt);
    };
    entry.coverage.then(endPause, () => known.delete(reader));
    return entry.coverage;
  };
}
