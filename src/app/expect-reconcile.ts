// Stores at the start that reconciles are expected, and since when. The time survives restarts, so that an alert can tell
// for how long the first successful run has been missing.
import type { DesiredState } from '../directory/desired-state.ts';
import { untilStored, type Parts } from './parts.ts';

/**
 * Stores the expectation for every connection and target in the background. Tries again until Redis answers or the
 * service stops.
 * @param gapMs longest time between two reconciles of the schedule; null without one
 */
export function expectReconcile(
  { clock, releasers }: Parts,
  states: readonly DesiredState[],
  gapMs: number | null,
): void {
  const stopping = new AbortController();
  const expected = gapMs === null ? null : { since: clock.now(), gapMs };
  void untilStored(clock, stopping.signal, async () => {
    for (const { runs } of states) for (const each of runs.values()) await each.noteExpected(expected);
  });
  releasers.add('expected reconcile', () => stopping.abort());
}
