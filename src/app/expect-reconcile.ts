// Notes at the start which reconciles are expected and since when, so that the wait for the first success survives restarts.
import type { DesiredState } from '../directory/desired-state.ts';
import type { Parts } from './parts.ts';

const RETRY_MS = 5000;

/**
 * Tries until Redis answers, or until the service stops.
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
        // The connection to Redis logs that it is away.
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }
  void note();
  releasers.add('expected reconcile', () => stopping.abort());
}
