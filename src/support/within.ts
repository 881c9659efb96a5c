// Waits for a promise with a time limit.
import type { Clock } from './sources.ts';

/** Waits until the promise settles, at most `ms` milliseconds. @returns whether it was fulfilled or rejected in time */
export async function settledWithin(clock: Clock, promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = new AbortController();
  const done = (): void => settled.abort();
  promise.then(done, done);
  await clock.sleep(ms, settled.signal);
  return settled.signal.aborted;
}
