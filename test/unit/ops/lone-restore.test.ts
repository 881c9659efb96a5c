// Tests a restore whose process is suspended for longer than its lease.
import { jest } from '@jest/globals';
import { aloneRestoring } from '../../../src/ops/backup/lone-restore.ts';
import { systemClock } from '../../../src/support/sources.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const restoreLease = { lead: () => Promise.resolve(true), resign: () => Promise.resolve() };
const deps = { restoreLease, clock: systemClock };

test('a restore goes on writing while its lease is renewed, for longer than the lease', async () => {
  await aloneRestoring(deps, 'ann', async (assertAlone) => {
    for (let second = 0; second < 60; second++) {
      await jest.advanceTimersByTimeAsync(1000);
      assertAlone();
    }
  });
});

test('a process that was suspended for longer than the lease ends its restore before the next write', async () => {
  const written: string[] = [];
  const restoring = aloneRestoring(deps, 'ann', (assertAlone) => {
    assertAlone();
    written.push('before');
    // The time goes on, and no timer has run yet.
    jest.setSystemTime(Date.now() + 15_000);
    assertAlone();
    written.push('after');
    return Promise.resolve();
  });
  await expect(restoring).rejects.toThrow('Another restore may have begun');
  expect(written).toEqual(['before']);
});

test('a renewal after a suspension that was longer than the lease does not let the restore go on, because another one may have begun and ended meanwhile', async () => {
  const restoring = aloneRestoring(deps, 'ann', async (assertAlone) => {
    jest.setSystemTime(Date.now() + 15_000);
    await jest.advanceTimersByTimeAsync(6000);
    assertAlone();
  });
  await expect(restoring).rejects.toThrow('Another restore may have begun');
});
