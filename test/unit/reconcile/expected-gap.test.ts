// Tests the longest time between two runs of a schedule.
import { expectedGapMs, nextRunOf } from '../../../src/reconcile/apply/expected-gap.ts';

const HOUR = 3_600_000;

test.each<[string | null, number | null]>([
  ['*/30 * * * *', HOUR / 2],
  ['*/30 8-17 * * *', 14.5 * HOUR],
  ['0 8-17 * * 1-5', 63 * HOUR],
  ['* 8-17 * * 1-5', 62 * HOUR + HOUR / 60],
  ['0 3 * * *', 24 * HOUR],
  ['0 3 * * 1', 7 * 24 * HOUR],
  ['*/15 9-17 * * 1-5', 63.25 * HOUR],
  ['0,10,55 * * * *', (45 / 60) * HOUR],
  ['*/20 * * * * *', HOUR / 180],
  ['30 0 2,5,23 * * *', 18 * HOUR],
  ['0 3 1 * *', 31 * 24 * HOUR],
  ['0 3 * 1-6 *', 185 * 24 * HOUR],
  ['0 3 1 1 *', 366 * 24 * HOUR],
  ['0 0 30 2 *', null],
  ['every hour', null],
  [null, null],
])('the longest time between two runs of the schedule %s is %s ms (null: there is none)', (schedule, gap) => {
  expect(expectedGapMs(schedule)).toBe(gap);
});

test('the next run of a schedule is computed in its time zone, and without a schedule there is none', () => {
  const next = nextRunOf('30 2 * * *', 'Europe/Berlin')(Date.now()) ?? 0;
  expect(next).toBeGreaterThan(Date.now());
  expect(next).toBeLessThan(Date.now() + 25 * 3_600_000);
  expect(new Date(next).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' })).toBe('02:30:00');
  expect(nextRunOf(null, 'UTC')(Date.now())).toBeNull();
});
