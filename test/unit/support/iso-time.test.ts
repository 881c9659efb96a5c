// Times as the platform's own formatter writes them, whatever day came before.
import fc from 'fast-check';
import { isoTime } from '../../../src/support/iso-time.ts';

const LIMIT_MS = 8.64e15;

test('writes what toISOString writes', () => {
  const near = fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_000 + 3 * 86_400_000 });
  const any = fc.integer({ min: -LIMIT_MS, max: LIMIT_MS });
  fc.assert(fc.property(fc.oneof(near, any), (ms) => isoTime(ms) === new Date(ms).toISOString()));
});

test.each([0, -1, 86_399_999, 86_400_000, LIMIT_MS, -LIMIT_MS, 253_402_300_800_000])('%d', (ms) => {
  expect(isoTime(ms)).toBe(new Date(ms).toISOString());
});

test.each([NaN, Infinity, LIMIT_MS + 86_400_000])('refuses %d', (ms) => {
  expect(() => isoTime(ms)).toThrow(RangeError);
});
