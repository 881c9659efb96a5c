// Recorded requests about time dimensions, date ranges and time zones.
import { count, filter, load, ROW_TEXT, T, time } from './forms.mjs';

const RANGES = [
  ...[['2026-03-01', '2026-03-31'], ['2026-03-05'], ['2026-03-31', '2026-03-01']],
  ['2026-03-01T00:00:00.000', '2026-03-05T12:00:00.000'],
  ...['today', 'yesterday', 'tomorrow', 'this week', 'this month', 'this quarter', 'this year'],
  ...['last week', 'last month', 'last quarter', 'last year', 'last 30 days', 'last 3 months'],
  ...['next week', 'next 2 quarters', 'Last Month', 'last 24 hours', 'this hour'],
  ...['from 30 days ago to 10 days ago', 'January 2026', 'all time'],
  ['2026-02-30', '2026-03-01'],
  ['2026-01-01', '2026-01-02', '2026-01-03'],
];
const GRANULARITIES = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
const WORDS = [
  ...['this year', 'next month', 'next year', 'next quarter', 'next 3 days', 'last 1 day', 'last 2 weeks'],
  ...['last 4 quarters', 'last 2 years', 'last 90 days', 'last day', 'next day', 'this day', 'next hour'],
  ...['LAST 7 DAYS', 'last  30  days', 'the last 7 days please', 'Today', ' yesterday ', 'next 48 hours'],
  ...['last 5 minutes', 'now', 'last 0 days', 'this 3 months', 'past week', 'week', '', ' ', 'gibberish'],
  ...[
    'from yesterday to today',
    'from 2026-03-01 to 2026-03-31',
    'from January 1 to February 1',
    'from 2 weeks ago to now',
  ],
  ...['from x to y', 'from last week to today', 'from 3 hours ago to now', 'from today', 'from may to june'],
  ...[
    '2 days ago',
    '3 weeks ago',
    'an hour ago',
    'in 3 days',
    'monday',
    'last friday',
    'next tuesday',
    'friday',
  ],
  ...[
    'March',
    'March 2026',
    'March 5',
    'March 5, 2026',
    '5 March 2026',
    'Mar 5 2026',
    '2026-03-05',
    '2026-03',
    '2026',
  ],
  ...['2026/03/05', '3/5/2026', '03/05/26', 'March 5 2026 10:00', 'yesterday at noon', '5 minutes ago'],
  ...[
    'Jan 1 to Jan 31',
    'January 1 - February 15',
    'March 1 to March 5 2026',
    'Q1 2026',
    'christmas',
    'end of month',
  ],
  ...[
    'this morning',
    'tonight',
    'last night',
    'two weeks ago',
    'a month ago',
    '10 days from now',
    '1st of May',
  ],
];
const MOMENTS = [
  ['2026-03-01T10:00:00', '2026-03-01T12:00:00'],
  ['2026-03-01T10:00', '2026-03-02T12:00'],
  ['2026-03-01 10:00:00', '2026-03-02 12:00:00'],
  ['2026-03-01T10:00:00.123456', '2026-03-02T12:00:00.123456'],
  ['2026-03-01T10:00:00Z', '2026-03-02T12:00:00Z'],
  ['2026-03-01T10:00:00+02:00', '2026-03-02T12:00:00-05:00'],
  ['2026-03-01', '2026-03-02T12:00:00.000'],
  ['2026-3-1', '2026-3-5'],
  ['2026-03', '2026-04'],
  ['2026', '2027'],
  ['20260301', '20260305'],
  ['03/01/2026', '03/05/2026'],
  ['yesterday', 'today'],
  ['last month'],
  ['today'],
  ['2026-02-29'],
  ['2026-13-01', '2026-14-01'],
  ['', ''],
  ['2026-03-01T25:00:00', '2026-03-02'],
  ['1000-01-01', '9999-12-31'],
  ['2026-03-05T10:00:00.000'],
];
export const TIMES = [
  ...RANGES.map((dateRange) => load(time({ dateRange }))),
  ...['day', 'week', 'month', 'quarter', 'year'].map((granularity) =>
    load(time({ granularity, dateRange: ['2026-01-05', '2026-07-20'] })),
  ),
  load({ ...count, dimensions: [`${T}.year`] }),
  load(
    { ...count, timeDimensions: [{ dimension: 'orders.status', granularity: 'day' }] },
    { known: ROW_TEXT },
  ),
  load({
    ...time({ dateRange: ['2026-03-01', '2026-03-03'], granularity: 'day' }),
    timezone: 'America/Los_Angeles',
  }),
  load({ ...count, timezone: 'europe/berlin' }),
  ...GRANULARITIES.map((granularity) => load(time({ granularity, dateRange: ['2026-03-01', '2026-03-02'] }))),
  ...WORDS.map((dateRange) => load(time({ dateRange }))),
  ...MOMENTS.map((dateRange) => load(time({ dateRange }))),
  ...['year', 'quarter', 'month', 'week', 'day'].map((unit) =>
    load({ ...count, dimensions: [`${T}.${unit}`], limit: 10 }),
  ),
  load({ ...count, dimensions: [`${T}.year`, `${T}.month`], limit: 5 }),
  load({ ...time({ granularity: 'month', dateRange: 'this year' }), dimensions: [`${T}.quarter`] }),
  load({ timeDimensions: [{ dimension: T, granularity: 'year' }] }),
  load({
    timeDimensions: [{ dimension: T, granularity: 'month', dateRange: 'last 6 months' }],
    dimensions: ['orders.country'],
  }),
  load({
    ...count,
    timeDimensions: [
      { dimension: T, granularity: 'year' },
      { dimension: T, granularity: 'quarter', dateRange: 'this year' },
    ],
  }),
  load({
    measures: ['orders.count'],
    timeDimensions: [
      { dimension: T, granularity: 'year' },
      { dimension: 'customers.signed_up_at', dateRange: ['2025-01-01', '2025-12-31'] },
    ],
  }),
  load({
    measures: ['customers.count'],
    timeDimensions: [{ dimension: 'customers.signed_up_at', granularity: 'quarter' }],
  }),
  load({ ...time({ dateRange: 'last month' }), dimensions: ['orders.status'] }),
];

const zoned = (timezone, more, query = {}) => load({ ...time(more), ...query, timezone });
/** Days in which a clock is changed, and zones whose offset is no whole hour. */
export const ZONES = [
  ...['hour', 'day'].map((granularity) =>
    zoned('Europe/Berlin', { granularity, dateRange: ['2026-03-28', '2026-03-30'] }),
  ),
  ...['hour', 'day'].map((granularity) =>
    zoned('Europe/Berlin', { granularity, dateRange: ['2026-10-24', '2026-10-26'] }),
  ),
  zoned('America/New_York', { granularity: 'hour', dateRange: ['2026-03-08', '2026-03-08'] }),
  zoned('America/New_York', { granularity: 'hour', dateRange: ['2026-11-01', '2026-11-01'] }),
  zoned('Asia/Kathmandu', { granularity: 'day', dateRange: ['2026-05-01', '2026-05-07'] }),
  zoned('Asia/Kolkata', { granularity: 'hour', dateRange: ['2026-05-01', '2026-05-03'] }),
  zoned('Pacific/Auckland', { granularity: 'week', dateRange: ['2026-04-01', '2026-04-30'] }),
  zoned('Pacific/Kiritimati', { granularity: 'month', dateRange: ['2026-01-01', '2026-06-30'] }),
  zoned('Australia/Lord_Howe', { granularity: 'day', dateRange: ['2026-04-03', '2026-04-07'] }),
  zoned('America/Sao_Paulo', { granularity: 'quarter' }),
  zoned('Asia/Tokyo', { granularity: 'year' }),
  zoned('America/Los_Angeles', { dateRange: 'last month' }),
  zoned('Pacific/Auckland', { dateRange: 'today' }),
  zoned('Pacific/Auckland', { dateRange: 'yesterday' }),
  zoned('America/Los_Angeles', { dateRange: 'this week', granularity: 'day' }),
  zoned('America/Los_Angeles', { dateRange: ['2026-03-01T00:00:00.000Z', '2026-03-01T12:00:00.000Z'] }),
  zoned('America/Los_Angeles', { dateRange: ['2026-03-01T00:00:00.000', '2026-03-01T12:00:00.000'] }),
  load({ dimensions: [T], limit: 5, timezone: 'Asia/Tokyo' }),
  load({ dimensions: ['customers.signed_up_at'], limit: 5, timezone: 'America/New_York' }),
  load({ ...filter(T, 'inDateRange', ['2026-03-01', '2026-03-02']), timezone: 'Asia/Tokyo' }),
  load({ ...filter(T, 'beforeDate', ['2026-03-01']), timezone: 'America/Los_Angeles' }),
  load({ ...filter(T, 'afterOrOnDate', ['2026-03-01T10:00:00.000']), timezone: 'America/Los_Angeles' }),
  load({ ...filter(T, 'equals', ['2026-03-01']), timezone: 'Asia/Tokyo' }),
  load({ ...count, dimensions: [`${T}.day`], limit: 8, timezone: 'Asia/Tokyo' }),
];
