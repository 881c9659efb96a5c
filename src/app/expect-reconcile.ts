// Stores at the start that reconciles are expected, and since when. The time survives restarts, so that an alert can tell
// for how long the first successful run has been missing.
import type { DesiredState } from '../directory/desired-state.ts';
import type { Parts } from './parts.ts';

const RETRY_MS = 5000;

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
  const { signal } = stopping;
  const expected = gapMs === null ? null : { since: clock.now(), gapMs };
  async function note(): Promise<void> {
    while (!signal.aborted) {
      try {
        for (const { runs } of states) for (const each of runs.values()) await each.noteExpected(expected);
        return;
      } catch {
        // The connection logs that Redis does not answer.
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }
  void note();
  releasers.add('expected reconcile', () => stopping.abort());
}
