import { getEventListeners } from 'node:events';
import { systemClock } from '../../../src/support/sources.ts';

describe('the system clock', () => {
  it('sleep resolves after the given time', async () => {
    const startedAt = performance.now();
    await systemClock.sleep(40);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(38);
  });

  it('wakes at once when the signal aborts, without an error', async () => {
    const abort = new AbortController();
    const startedAt = performance.now();
    const sleeping = systemClock.sleep(60_000, abort.signal);
    abort.abort(new Error('reason'));
    await expect(sleeping).resolves.toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it('does not sleep at all when the signal was aborted before', async () => {
    await expect(systemClock.sleep(60_000, AbortSignal.abort())).resolves.toBeUndefined();
  });

  it('leaves no listener behind on a signal that lives long', async () => {
    const { signal } = new AbortController();
    const sleeping = [1, 2, 3].map((ms) => systemClock.sleep(ms, signal));
    expect(getEventListeners(signal, 'abort')).toHaveLength(3);
    await Promise.all(sleeping);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
