// Tests the system clock.
import { getEventListeners } from 'node:events';
import { systemClock } from '../../../src/support/sources.ts';

describe('the system clock', () => {
  it('sleep resolves after the given time', async () => {
    const startedAt = performance.now();
    await systemClock.sleep(40);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(38);
  });

  it('sleep resolves at once without an error when the signal aborts', async () => {
    const abort = new AbortController();
    const startedAt = performance.now();
    const sleeping = systemClock.sleep(60_000, abort.signal);
    abort.abort(new Error('reason'));
    await expect(sleeping).resolves.toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it('sleep does not wait if the signal is already aborted', async () => {
    await expect(systemClock.sleep(60_000, AbortSignal.abort())).resolves.toBeUndefined();
  });

  it('sleep removes its listener from a long-lived signal', async () => {
    const { signal } = new AbortController();
    const sleeping = [1, 2, 3].map((ms) => systemClock.sleep(ms, signal));
    expect(getEventListeners(signal, 'abort')).toHaveLength(3);
    await Promise.all(sleeping);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
