// Tests the token bucket of rate limits.
import { createBucket } from '../../../src/support/limits.ts';

test('a token bucket grants its burst at once, then its rate per second, and otherwise returns the wait', () => {
  const bucket = createBucket({ perSecond: 10, burst: 3 });
  expect([0, 0, 0, 0].map(() => bucket.take(1000))).toEqual([0, 0, 0, 100]);
  expect(bucket.take(1050)).toBe(50);
  expect(bucket.take(1100)).toBe(0);
  expect(bucket.take(1100)).toBe(100);
  expect([0, 0, 0, 0].map(() => bucket.take(99_000))).toEqual([0, 0, 0, 100]);
});

test('a token bucket whose clock is set back gains no tokens', () => {
  const bucket = createBucket({ perSecond: 1, burst: 1 });
  expect(bucket.take(5000)).toBe(0);
  expect(bucket.take(1000)).toBe(1000);
  expect(bucket.take(1900)).toBe(100);
  expect(bucket.take(2000)).toBe(0);
});
