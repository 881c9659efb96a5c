// Waiting that has an end.
import type { Clock } from './clock.ts';

/** @returns whether the promise was settled, well or badly, before `ms` milliseconds were over */
export async function settledWithin(clock: Clock, promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = new AbortController();
  const done = (): void => settled.abort();
  promise.then(done, done);
  await clock.sleep(ms, settled.signal);
  return settled.signal.aborted;
}
