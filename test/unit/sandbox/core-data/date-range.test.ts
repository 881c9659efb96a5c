// Tests how date ranges of a query become spans of time in a time zone.
import { momentOfFilter, parseSpan } from '../../../../src/sandbox/core-data/date-range.ts';
import { isTimezone } from '../../../../src/sandbox/core-data/time-zone.ts';

/** A Tuesday evening in UTC, which is Wednesday in Berlin. */
const NOW = Date.parse('2026-03-10T23:30:00Z');
const day = (first: string, last = first) => [`${first} 00:00:00.000`, `${last} 23:59:59.999`];

test.each([
  ['today', day('2026-03-10')],
  ['yesterday', day('2026-03-09')],
  ['tomorrow', day('2026-03-11')],
  ['this week', day('2026-03-09', '2026-03-15')],
  ['last week', day('2026-03-02', '2026-03-08')],
  ['last 7 days', day('2026-03-03', '2026-03-09')],
  ['Last 2 Months', day('2026-01-01', '2026-02-28')],
  ['this quarter', day('2026-01-01', '2026-03-31')],
  ['last year', day('2025-01-01', '2025-12-31')],
  ['next month', day('2026-04-01', '2026-04-30')],
  ['2026-02-14', day('2026-02-14')],
])('the date range %s is a span of whole days', (words, span) => {
  expect(parseSpan(words, NOW, 'UTC')).toEqual(span);
});

// 2026-03-10 is a Tuesday, 2026-03-14 a Saturday and 2026-03-15 a Sunday.
test.each([
  ['2026-03-10', 'next monday', '2026-03-16'],
  ['2026-03-10', 'next tuesday', '2026-03-17'],
  ['2026-03-10', 'next friday', '2026-03-20'],
  ['2026-03-10', 'next sunday', '2026-03-22'],
  ['2026-03-14', 'next saturday', '2026-03-21'],
  ['2026-03-14', 'next sunday', '2026-03-22'],
  ['2026-03-15', 'next monday', '2026-03-16'],
  ['2026-03-15', 'next saturday', '2026-03-21'],
  ['2026-03-15', 'next sunday', '2026-03-22'],
])('on %s the date range %s is the day in the following week, %s', (today, words, date) => {
  expect(parseSpan(words, Date.parse(`${today}T12:00:00Z`), 'UTC')).toEqual(day(date));
});

test("the date range `today` is the local day of the query's time zone", () => {
  expect(parseSpan('today', NOW, 'Europe/Berlin')).toEqual(day('2026-03-11'));
  expect(parseSpan('today', NOW, 'America/New_York')).toEqual(day('2026-03-10'));
});

test("a filter converts a time with an offset to the query's time zone, and keeps one without an offset", () => {
  expect(momentOfFilter('2026-07-01T12:00:00Z', 'from', 'Europe/Berlin')).toBe('2026-07-01 14:00:00.000');
  expect(momentOfFilter('2026-07-01T12:00:00', 'from', 'Europe/Berlin')).toBe('2026-07-01 12:00:00.000');
});

test('the ends of a date range are converted to UTC and written with time of day and without offset', () => {
  const ends = (from: string, to = from) => parseSpan([from, to], NOW, 'Europe/Berlin');
  expect(ends('2026-07-01T12:00:00+02:00')[0]).toBe('2026-07-01 10:00:00.000');
  expect(ends('2026-07', '20260801')).toEqual(['2026-07-01 00:00:00.000', '2026-08-01 00:00:00.000']);
  expect(() => ends('last month')).toThrow('Invalid date');
});

test.each([
  '',
  'soon',
  'last 20000 days',
  'this 30000 weeks',
  '2026-13-01',
  '2026-02-30',
  '2026-01-01T99:00',
])('the date range %j is refused', (text) => {
  expect(() => parseSpan(text, NOW, 'UTC')).toThrow();
});

test('every time zone that the machine knows is accepted in a query', () => {
  expect(['UTC', 'Asia/Kolkata', 'Mars/Base', '', "UTC'", 'Europe/Berlin; x'].map(isTimezone)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
