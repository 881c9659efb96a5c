// Tests the delay before a retry.
import fc from 'fast-check';
import { backoffMs } from '../../../src/support/backoff.ts';

const options = { baseMs: 500, maxMs: 30_000 };
const attempts = fc.integer({ min: 1, max: 10_000 });
const luck = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the delay before a retry', () => {
  it('a delay is between half of the full delay and the full delay', () => {
    fc.assert(
      fc.property(attempts, luck, (attempt, random) => {
        const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt - 1, 30));
        const wait = backoffMs(attempt, options, () => random);
        expect(wait).toBeGreaterThanOrEqual(full / 2);
        expect(wait).toBeLessThanOrEqual(full);
      }),
    );
  });

  it('the delay never shrinks between attempts with equal randomness, and is bounded', () => {
    fc.assert(
      fc.property(attempts, luck, (attempt, random) => {
        const wait = (count: number) => backoffMs(count, options, () => random);
        expect(wait(attempt + 1)).toBeGreaterThanOrEqual(wait(attempt));
        expect(Number.isSafeInteger(wait(attempt))).toBe(true);
      }),
    );
  });

  it('the full delay doubles up to the maximum', () => {
    const waits = [1, 2, 3, 7, 8, 1000].map((attempt) => backoffMs(attempt, options, () => 0));
    expect(waits).toEqual([250, 500, 1000, 15_000, 15_000, 15_000]);
  });
});
