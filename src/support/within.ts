// Waits for a promise with a time limit.
import type { Clock } from './sources.ts';

/** @returns whether the promise was fulfilled or rejected within `ms` milliseconds */
export async function settledWithin(clock: Clock, promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = new AbortController();
  const done = (): void => settled.abort();
  promise.then(done, done);
  await clock.sleep(ms, settled.signal);
  return settled.signal.aborted;
}
