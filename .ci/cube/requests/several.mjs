// Recorded requests with several queries in one, and requests that describe a query without running it.
import { byCountry, count, filter, get, load, multi, post, SERVER_ERROR, T, time } from './forms.mjs';

const HALF = ['2026-01-01', '2026-06-30'];
const months = time({ granularity: 'month', dateRange: HALF });
const customers = {
  measures: ['customers.count'],
  timeDimensions: [{ dimension: 'customers.signed_up_at', granularity: 'month', dateRange: HALF }],
};
const against = (compareDateRange, more = {}, query = {}) => ({
  ...query,
  ...time({ compareDateRange, ...more }),
});
const TWO = [
  ['2026-01-01', '2026-02-28'],
  ['2026-03-01', '2026-04-30'],
];

const BLENDED = [
  [months, customers],
  [
    { ...months, dimensions: ['orders.country'] },
    { ...customers, dimensions: ['customers.country'] },
  ],
  [months, { ...customers, responseFormat: 'compact' }],
  [months, { ...customers, limit: 2 }],
  [months, months],
  [months, { measures: ['orders.nope'] }],
  [],
  [{}],
  [months, time({ granularity: 'day', dateRange: HALF })],
  [{ ...months, timezone: 'Asia/Tokyo' }, customers],
  [against(TWO, { granularity: 'month' })],
];
const COMPARED = [
  against(TWO, { granularity: 'month' }),
  against(TWO, { granularity: 'month' }, { dimensions: ['orders.country'] }),
  against(['this month', 'last month', 'last 2 months']),
  against(['this year', ['2025-01-01', '2025-12-31']], { granularity: 'year' }),
  against([['2026-01-01'], ['2026-02-01']]),
  against([]),
  against(['gibberish']),
  against([5]),
  against([null, 'last month']),
  against(TWO, {}, { responseFormat: 'compact' }),
  against(TWO, { granularity: 'month' }, { responseFormat: 'columnar' }),
  {
    ...count,
    timeDimensions: [
      ...against(TWO).timeDimensions,
      { dimension: 'customers.signed_up_at', dateRange: 'last year' },
    ],
  },
  { ...against(TWO), filters: filter('orders.status', 'equals', ['shipped']).filters, total: true },
];
const DESCRIBED = [
  byCountry,
  months,
  against(TWO),
  [months, customers],
  { ...byCountry, order: { 'orders.country': 'asc' }, limit: 5 },
  { ...byCountry, segments: ['orders.completed'], ...filter('orders.status', 'set') },
  { ...count, dimensions: [`${T}.month`] },
  { ...byCountry, ungrouped: true, total: true, offset: 3 },
  { measures: ['orders.nope'] },
  { ...count, stranger: true },
  {},
  { measures: ['raw_orders.count'] },
];

const MISTAKES = [
  multi([months, count]),
  multi(against('last month')),
  post('/v1/dry-run', { query: { ...count, limit: 50_001 } }),
  post('/v1/sql', { query: { ...count, limit: 50_001 } }),
].map((request) => ({ ...request, known: SERVER_ERROR }));

export const COMBINED = [
  ...MISTAKES,
  ...[...BLENDED, ...COMPARED].map(multi),
  load(against(TWO), {}),
  load([months, customers]),
  post('/v1/load', { query: months, queryType: 'blendingQuery' }),
  post('/v1/load', { query: months, queryType: 'multi', cache: 'no-cache' }),
  {
    method: 'GET',
    path: `/v1/load?queryType=multi&query=${encodeURIComponent(JSON.stringify([months, customers]))}`,
  },
  {
    method: 'GET',
    path: `/v1/load?queryType=multi&query=${encodeURIComponent(JSON.stringify(against(TWO)))}`,
  },
  ...DESCRIBED.map((query) => post('/v1/dry-run', { query })),
  ...DESCRIBED.map((query) => post('/v1/sql', { query })),
  get('/v1/dry-run', [months, customers]),
  get('/v1/sql', months),
];
