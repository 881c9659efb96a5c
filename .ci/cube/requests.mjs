// Lists the recorded requests of Core Data, made of the sections of what an open-source Cube server 1.7 answered.
// A request with `known` differs at Cube for the reason given; docs/sandbox.md explains these differences.

const T = 'orders.created_at';
const count = { measures: ['orders.count'] };
const byCountry = { ...count, dimensions: ['orders.country'] };
const time = (more) => ({ ...count, timeDimensions: [{ dimension: T, ...more }] });
const filter = (member, operator, values) => ({
  measures: [`${member.split('.')[0]}.count`],
  filters: [{ member, operator, ...(values === undefined ? {} : { values }) }],
});
const months = time({ granularity: 'month', dateRange: ['2026-01-01', '2026-03-31'] });
const compared = time({
  compareDateRange: [
    ['2026-01-01', '2026-03-31'],
    ['2026-04-01', '2026-06-30'],
  ],
});
const inGroups = (groups, userAttributes = {}) => ({ cubeCloud: { groups, userAttributes } });
const analyst = (country) => inGroups(['analysts'], { country });
const SERVER_ERROR = 'a client’s mistake is 400, Cube answers 500';

const load = (query, more = {}) => ({ method: 'POST', path: '/v1/load', body: { query }, ...more });
const multi = (query) => load(query, { body: { query, queryType: 'multi' } });
const get = (path, query) => ({
  method: 'GET',
  path: `${path}?query=${encodeURIComponent(JSON.stringify(query))}`,
});
const post = (path, body, more = {}) => ({ method: 'POST', path, body, ...more });

const TRANSPORT = [
  get('/v1/load', count),
  get('/v1/load/', count),
  get('/v1/load', { measures: ['orders.nope'] }),
  { method: 'GET', path: '/v1/load' },
  post('/v1/load', {}),
  { method: 'POST', path: '/v1/load' },
  load(JSON.stringify(count)),
  load(5, { known: SERVER_ERROR }),
  { method: 'PUT', path: '/v1/load', body: { query: count } },
  { method: 'GET', path: '/v1/cubesql' },
  { method: 'GET', path: '/v1/nothing' },
  load(
    filter(
      'orders.country',
      'equals',
      Array.from({ length: 1500 }, (_, at) => `X${at}`),
    ),
  ),
];

const TOKENS = [
  load(count, { authorization: '' }),
  load(count, { authorization: 'garbage' }),
  { method: 'GET', path: '/v1/meta', authorization: 'garbage' },
  load(count, { prefix: 'Bearer ' }),
  load(count, { prefix: 'Bearer  ' }),
  load(count, { claims: { nbf: 600 } }),
  load(count, { claims: { exp: '1795400000' } }),
  load(count, { claims: { exp: -60 } }),
  post('/v1/dry-run', { query: count }, { authorization: '' }),
];

const FORMS = [
  { ...count, dimension: ['orders.country'] },
  { dimensions: ['countries.name'], rowLimit: 2 },
  { ...count, renewQuery: true },
  { measures: [5] },
  { measures: ['count'] },
  { dimensions: ['countries.name'], limit: null },
  { dimensions: ['customers.name'], limit: '3' },
  {},
  { timeDimensions: [{ dimension: T, dateRange: 'last month' }] },
  { measures: ['orders.nope'] },
  { measures: ['nope.count'] },
  { dimensions: ['orders.count'] },
  { measures: ['orders.count', 'customers.count'] },
  time({ granularity: null }),
  { ...count, timezone: '+02:00' },
].map((query) => load(query));

const ANSWERS = [
  count,
  { ...time({ dateRange: ['2026-10-01', '2026-11-15'], granularity: 'month' }), limit: 50 },
  {
    measures: ['average_credit', 'highest_credit', 'lowest_credit', 'countries', 'count'].map(
      (name) => `customers.${name}`,
    ),
  },
  { dimensions: ['customers.is_active'], measures: ['customers.count'] },
  { ...filter('orders.country', 'equals', ['XX']), measures: ['orders.count', 'orders.total_amount'] },
  { ...count, segments: ['orders.completed'] },
  { ...byCountry, responseFormat: 'compact' },
  { ...byCountry, responseFormat: 'columnar' },
  { dimensions: ['countries.code', 'countries.name', 'countries.region'] },
].map((query) => load(query));

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
const TIMES = [
  ...RANGES.map((dateRange) => load(time({ dateRange }))),
  ...['day', 'week', 'month', 'quarter', 'year'].map((granularity) =>
    load(time({ granularity, dateRange: ['2026-01-05', '2026-07-20'] })),
  ),
  load({ ...count, dimensions: [`${T}.year`] }),
  load({ ...count, timeDimensions: [{ dimension: 'orders.status', granularity: 'day' }] }),
  load({
    ...time({ dateRange: ['2026-03-01', '2026-03-03'], granularity: 'day' }),
    timezone: 'America/Los_Angeles',
  }),
  load({ ...count, timezone: 'europe/berlin' }),
];

const DE = { member: 'orders.country', operator: 'equals', values: ['DE'] };
const FILTERS = [
  filter('orders.status', 'equals', ['completed']),
  filter('orders.status', 'notEquals', ['completed']),
  filter('orders.status', 'equals', [null]),
  filter('orders.status', 'notEquals', [null]),
  filter('orders.status', 'in', ['completed', 'shipped']),
  filter('orders.status', 'notIn', ['completed', 'shipped']),
  filter('orders.status', 'contains', ['%']),
  filter('orders.status', 'contains', ['roc', 'ship']),
  filter('orders.status', 'notContains', ['roc', 'ship']),
  filter('orders.status', 'startsWith', ['COM']),
  filter('orders.status', 'notStartsWith', ['COM']),
  filter('orders.status', 'endsWith', ['ed']),
  filter('orders.status', 'notEndsWith', ['ed']),
  filter('orders.status', 'gt', ['m']),
  filter('orders.status', 'equals', ['']),
  filter('orders.status', 'set'),
  filter('orders.status', 'notSet'),
  filter('customers.credit', 'gt', ['10000']),
  filter('customers.credit', 'gte', ['10000']),
  filter('customers.credit', 'lt', ['10000']),
  filter('customers.credit', 'lte', ['10000']),
  filter('customers.credit', 'equals', ['10000']),
  filter('customers.is_active', 'equals', ['true']),
  filter(T, 'equals', ['2026-06-01']),
  filter(T, 'inDateRange', ['2026-03-01']),
  filter(T, 'notInDateRange', ['2026-03-01', '2026-03-31']),
  filter(T, 'onTheDate', ['2026-03-01']),
  filter(T, 'beforeDate', ['2026-03-01']),
  filter(T, 'beforeDate', ['last month']),
  filter(T, 'afterOrOnDate', ['2026-03-01']),
  { ...byCountry, filters: [{ member: 'orders.count', operator: 'equals', values: ['95'] }] },
  { ...byCountry, filters: [{ member: 'orders.total_amount', operator: 'set' }] },
  { ...count, filters: [{ or: [] }] },
  { ...count, filters: [{ dimension: 'orders.country', operator: 'equals', values: ['DE'] }] },
  {
    ...count,
    filters: [
      {
        or: [
          DE,
          { and: [{ ...DE, values: ['US'] }, filter('orders.status', 'equals', ['shipped']).filters[0]] },
        ],
      },
    ],
  },
  filter('orders.status', 'equals'),
  filter('orders.status', 'equals', 'completed'),
  { ...count, filters: [{ member: 'orders.status', values: ['x'] }] },
  filter('orders.status', 'afterDate', ['2026-03-01']),
].map((query) => load(query));
const DAY_BORDER = 'a bare date counts the whole day, as Cube’s newer planner does';
const BORDERS = ['afterDate', 'beforeOrOnDate'].map((operator) =>
  load(filter(T, operator, ['2026-03-01']), { known: DAY_BORDER }),
);

const ORDERS = [
  { ...byCountry, order: { 'orders.count': 'asc' } },
  {
    ...byCountry,
    order: [
      ['orders.country', 'asc'],
      ['orders.count', 'desc'],
    ],
  },
  { ...time({ granularity: 'month' }), order: { [T]: 'desc' } },
  { ...byCountry, order: { 'orders.country': 'none' } },
  { ...byCountry, order: { 'orders.status': 'asc' } },
  { dimensions: ['customers.name'], limit: 3 },
  { ...byCountry, limit: 2, offset: 2, total: true },
  { ...byCountry, offset: 4 },
  { ...byCountry, ungrouped: true, limit: 1000 },
].map((query) => load(query));

const SEVERAL = [
  ...[count, [months], [count, { measures: ['customers.count'] }], compared].map(multi),
  multi([months, time({ granularity: 'year' })]),
  multi({ ...count, timeDimensions: [...compared.timeDimensions, ...compared.timeDimensions] }),
  load([count]),
  load(compared),
  post('/v1/sql', { query: count }),
  get('/v1/sql', byCountry),
  post('/v1/sql', {}),
  post('/v1/dry-run', { query: count }),
  post('/v1/dry-run', { query: { measures: ['orders.nope'] } }),
  get('/v1/dry-run', compared),
  post('/v1/cubesql', {}),
  post('/v1/cubesql', { query: 'select 1', cache: 'x' }),
];

const hidden = (query, context) => load(query, { context, known: SERVER_ERROR });
const POLICIES = [
  load(byCountry, { context: analyst('DE') }),
  load({ ...count, filters: [{ ...DE, values: ['US'] }] }, { context: analyst('DE') }),
  load(byCountry, { context: analyst(['DE', 'US']) }),
  load(byCountry, { context: inGroups(['analysts']) }),
  load(byCountry, { context: analyst('') }),
  hidden(byCountry, inGroups(['Analysts'], { country: 'DE' })),
  hidden(byCountry, inGroups(['strangers'])),
  hidden(byCountry, {}),
  hidden({ measures: ['raw_orders.count'] }),
  load({ dimensions: ['customers.name'], limit: 50_001 }, { known: SERVER_ERROR }),
  ...[undefined, {}, analyst('DE'), inGroups(['strangers'])].map((context) => ({
    method: 'GET',
    path: '/v1/meta',
    context,
  })),
  { method: 'GET', path: '/v1/meta?onlyViews=true' },
];

/** All requests with a number by section, such as `5.12`. */
export const REQUESTS = Object.entries({
  1: TRANSPORT,
  2: TOKENS,
  3: FORMS,
  4: ANSWERS,
  5: TIMES,
  6: [...FILTERS, ...BORDERS],
  7: ORDERS,
  8: SEVERAL,
  12: POLICIES,
}).flatMap(([section, requests]) =>
  requests.map((request, place) => ({ ...request, id: `${section}.${place + 1}` })),
);

/** The security context of a request that names none. */
export const EVERYTHING = inGroups(['everything']);
