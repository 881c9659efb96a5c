// Compares the sandbox's Core Data with recorded answers of an open-source Cube server 1.7: the same model, rows and moment.
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { systemClock } from '../../../src/support/sources.ts';
import { EVERYTHING, inGroups, startDataRig, type DataRig } from './data-rig.ts';

let rig: DataRig;
const NOW = Date.parse('2026-11-23T01:25:00Z');
const startedMs = performance.now();
const T = 'orders.created_at';
const count = { measures: ['orders.count'] };
const time = (more: object) => ({ timeDimensions: [{ dimension: T, ...more }] });
const range = (dateRange: unknown) => ({ ...count, ...time({ dateRange }) });
const filter = (member: string, operator: string, values?: unknown) => ({
  ...count,
  filters: [{ member, operator, ...(values === undefined ? {} : { values }) }],
});
const customers = (member: string, operator: string, values: unknown) => ({
  measures: ['customers.count'],
  filters: [{ member, operator, values }],
});

beforeAll(async () => {
  rig = await startDataRig({
    clock: {
      now: () => NOW + performance.now() - startedMs,
      sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms, signal),
    },
  });
});
afterAll(() => rig.stop());

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Signs claims as they are with an algorithm of the HMAC family. */
function sign(claims: object, algorithm = 'HS256'): string {
  const text = `${encode({ alg: algorithm, typ: 'JWT' })}.${encode(claims)}`;
  const hash = algorithm.replace('HS', 'sha');
  return `${text}.${createHmac(hash, rig.secretOf('1')).update(text).digest('base64url')}`;
}
const bearer = (context: object = EVERYTHING): string =>
  sign({ ...context, iat: NOW / 1000, exp: NOW / 1000 + 3600 });

async function call(
  method: string,
  path: string,
  {
    body,
    text,
    type = 'application/json',
    headers,
  }: { body?: unknown; text?: string; type?: string; headers?: Record<string, string> } = {},
) {
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const answer = await request(`${rig.ready.dataApiUrl}${path}`, {
    method: method as 'GET',
    headers: { authorization: bearer(), ...(sent === undefined ? {} : { 'content-type': type }), ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const content = await answer.body.text();
  const isJson = String(answer.headers['content-type']).includes('json');
  return { status: answer.statusCode, headers: answer.headers, body: isJson ? JSON.parse(content) : content };
}
const load = (query: unknown, context: object = EVERYTHING, more: object = {}) =>
  call('POST', '/v1/load', { body: { query, ...more }, headers: { authorization: bearer(context) } });
const address = (query: unknown, more = ''): string =>
  `?query=${encodeURIComponent(JSON.stringify(query))}${more}`;
const first = (body: any): unknown => Object.values(body.data?.[0] ?? {})[0];

describe('section 1, transport', () => {
  test('GET and POST answer alike; a slash at the end does not matter', async () => {
    const posted = await load(count);
    for (const path of [
      `/v1/load${address(count)}`,
      `/v1/load/${address(count)}`,
      `/v1/subscribe${address(count)}`,
    ])
      expect((await call('GET', path)).body.data).toEqual(posted.body.data);
    expect(posted.body.data).toEqual([{ 'orders.count': '640' }]);
    expect((await call('POST', '/v1/load/', { body: { query: count } })).status).toBe(200);
  });
  test('a request without query is 400; a form body is not read', async () => {
    const answers = await Promise.all([
      call('GET', '/v1/load'),
      call('POST', '/v1/load', { body: {} }),
      call('POST', '/v1/load'),
      call('POST', '/v1/load', { text: 'query=%7B%7D', type: 'application/x-www-form-urlencoded' }),
      call('GET', '/v1/sql'),
      call('POST', '/v1/dry-run', { body: {} }),
    ]);
    for (const { status, body } of answers)
      expect([status, body]).toEqual([400, { error: 'Query param is required' }]);
  });
  test('a query may be JSON text; a number is 400', async () => {
    expect((await load(JSON.stringify(count))).body.data).toEqual([{ 'orders.count': '640' }]);
    expect(await load(5)).toMatchObject({
      status: 400,
      body: { error: 'Invalid query format: "value" must be of type object' },
    });
    expect((await load('{"measures"')).status).toBe(400);
  });
  test('a refusal of the compiler has a type', async () => {
    const { status, body } = await call('GET', `/v1/load${address({ measures: ['orders.nope'] })}`);
    expect([status, body]).toEqual([
      400,
      { type: 'UserError', error: "'nope' not found for path 'orders.nope'" },
    ]);
  });
  test('an unknown path or method is 404 with a web page', async () => {
    for (const [method, path] of [
      ['PUT', '/v1/load'],
      ['GET', '/v1/cubesql'],
      ['GET', '/v1/nothing'],
    ] as const) {
      const { status, headers, body } = await call(method, path);
      expect([status, headers['content-type']]).toEqual([404, expect.stringContaining('text/html')]);
      expect(body).toContain('<html');
    }
  });
  test('a preflight needs no token, and answers carry the origin', async () => {
    const { statusCode, headers, body } = await request(`${rig.ready.dataApiUrl}/v1/load`, {
      method: 'OPTIONS',
      headers: { origin: 'https://dash.example', 'access-control-request-method': 'POST' },
    });
    await body.dump();
    expect([statusCode, headers['access-control-allow-origin']]).toEqual([204, '*']);
    expect(headers['access-control-allow-headers']).toBe('authorization,content-type,x-request-id');
    expect(headers['access-control-allow-methods']).toBe('GET,HEAD,PUT,PATCH,POST,DELETE');
    expect((await load(count)).headers['access-control-allow-origin']).toBe('*');
    expect((await load({})).headers['access-control-allow-origin']).toBe('*');
  });
  test('a filter with 1,500 values runs', async () => {
    const values = Array.from({ length: 1500 }, (_, place) => `X${place}`);
    expect((await load(filter('orders.country', 'equals', values))).body.data).toEqual([
      { 'orders.count': '0' },
    ]);
  });
  test('readyz and livez need no token', async () => {
    for (const path of ['/readyz', '/livez']) {
      const { statusCode, body } = await request(`${rig.ready.platformUrl}${path}`);
      expect([statusCode, await body.json()]).toEqual([200, { health: 'HEALTH' }]);
    }
  });
});

describe('section 2, tokens', () => {
  const NOT_SET = [403, "Authorization header isn't set"];
  const INVALID = [403, 'Invalid token'];
  const ask = async (authorization: string, path = '/v1/meta'): Promise<unknown[]> => {
    const { status, body } = await call('GET', path, { headers: { authorization } });
    return status === 200 ? [200] : [status, body.error];
  };
  test('the token stands after the first blank, or alone', async () => {
    expect(await ask('')).toEqual(NOT_SET);
    expect(await ask(`Bearer  ${bearer()}`)).toEqual(NOT_SET);
    expect(await ask('garbage')).toEqual(INVALID);
    for (const prefix of ['', 'Bearer ', 'Anything '])
      expect(await ask(`${prefix}${bearer()}`)).toEqual([200]);
    const own = await call('GET', '/v1/meta', {
      headers: { authorization: 'x', 'x-cube-authorization': bearer() },
    });
    expect(own.status).toBe(200);
  });
  test('the HMAC family and tokens without expiry are valid; a later start and an expiry as text are not', async () => {
    for (const algorithm of ['HS256', 'HS384', 'HS512'])
      expect(await ask(sign(EVERYTHING, algorithm))).toEqual([200]);
    expect(await ask(sign({ ...EVERYTHING, nbf: NOW / 1000 + 600 }))).toEqual(INVALID);
    expect(await ask(sign({ ...EVERYTHING, exp: '1795400000' }))).toEqual(INVALID);
    expect((await call('POST', '/v1/dry-run', { headers: { authorization: '' } })).status).toBe(403);
  });
});

describe('section 3, form of the query', () => {
  const EMPTY =
    'Query should contain either measures, dimensions or timeDimensions with granularities in order to be valid';
  test.each<[object, string, string?]>([
    [{ ...count, dimension: ['orders.country'] }, 'Invalid query format: "dimension" is not allowed'],
    [{ dimensions: ['countries.name'], rowLimit: 2 }, 'Invalid query format: "rowLimit" is not allowed'],
    [{ ...count, renewQuery: true }, 'Invalid query format: "renewQuery" is not allowed'],
    [{ measures: [5] }, 'Invalid query format: "measures[0]" must be one of [string, object]'],
    [
      { measures: ['count'] },
      'Invalid query format: "measures[0]" with value "count" fails to match the required pattern: /^[a-zA-Z0-9_]+\\.[a-zA-Z0-9_]+$/',
    ],
    [{ dimensions: ['countries.name'], limit: null }, 'Invalid query format: "limit" must be a number'],
    [{ dimensions: ['customers.name'], limit: '3' }, 'Invalid query format: "limit" must be a number'],
    [{}, EMPTY],
    [time({ dateRange: 'last month' }), EMPTY],
    [{ measures: ['orders.nope'] }, "'nope' not found for path 'orders.nope'", 'UserError'],
    [{ dimensions: ['orders.count'] }, "'count' not found for path 'orders.count'", 'UserError'],
    [
      { ...count, ...time({ granularity: null }) },
      'Invalid query format: "timeDimensions[0].granularity" must be a string',
    ],
    [range('all time'), "Can't parse date: 'all time'"],
    [
      range(['2026-02-30', '2026-03-01']),
      'Error: invalid input syntax for type timestamp with time zone: "Invalid date"',
    ],
    [
      range(['2026-01-01', '2026-01-02', '2026-01-03']),
      'Invalid query format: "timeDimensions[0].dateRange" must contain less than or equal to 2 items',
    ],
    [
      { ...count, timezone: '+02:00' },
      'Invalid query format: "timezone" must be a valid IANA time zone, got "+02:00"',
    ],
    [
      filter('orders.status', 'equals'),
      'Values required for filter: {"member":"orders.status","operator":"equals"}',
    ],
    [
      filter('orders.status', 'equals', 'completed'),
      'Invalid query format: "filters[0]" does not match any of the allowed types',
    ],
    [
      { ...count, filters: [{ member: 'orders.status', values: ['x'] }] },
      'Invalid query format: "filters[0]" does not match any of the allowed types',
    ],
    [
      filter('orders.status', 'afterDate', ['2026-03-01']),
      'Error: operator does not exist: text > timestamp with time zone',
    ],
    [
      { ...count, dimensions: ['orders.country'], order: { 'orders.country': 'none' } },
      'Invalid query format: "order.orders.country" must be one of [asc, desc]',
    ],
    [{ dimensions: ['customers.name'], limit: 50_001 }, 'Error: The query limit has been exceeded.'],
  ])('%j is refused', async (query, error, type = '') => {
    const { status, body } = await load(query);
    expect([status, body]).toEqual([400, type === '' ? { error } : { error, type }]);
  });
  test('a private member is hidden; two views over joined cubes answer together', async () => {
    const { status, body } = await load({ measures: ['raw_orders.count'] });
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(
        /^Error: You requested hidden member: 'raw_orders__count'\. Please make it visible/,
      ),
    ]);
    expect((await load({ measures: ['orders.count', 'customers.count'] })).body.data).toEqual([
      { 'orders.count': '640', 'customers.count': '120' },
    ]);
    const { body: apart } = await load({ measures: ['orders.count', 'countries.count'] });
    expect(apart).toEqual({ type: 'UserError', error: expect.stringContaining("Can't find join path") });
  });
  test('keys beside the query are not looked at', async () => {
    for (const more of [{ cache: 'no-cache' }, { queryType: 'none' }, { anything: 1 }])
      expect((await load(count, EVERYTHING, more)).body.data).toEqual([{ 'orders.count': '640' }]);
  });
});

describe('section 4, the answer of one query', () => {
  test('months of a range', async () => {
    const { body } = await load({
      ...count,
      ...time({ dateRange: ['2026-10-01', '2026-11-15'], granularity: 'month' }),
      limit: 50,
    });
    expect(body.query).toMatchObject({
      measures: ['orders.count'],
      dimensions: [],
      timeDimensions: [
        {
          dimension: T,
          dateRange: ['2026-10-01T00:00:00.000', '2026-11-15T23:59:59.999'],
          granularity: 'month',
        },
      ],
      ...{ limit: 50, timezone: 'UTC', filters: [], rowLimit: 50 },
    });
    const created = {
      title: 'Orders Created At',
      shortTitle: 'Created At',
      description: 'When the order was placed',
      type: 'time',
    };
    expect(body.annotation).toEqual({
      measures: {
        'orders.count': {
          ...{ title: 'Orders Count', shortTitle: 'Count', description: 'Number of orders', type: 'number' },
          ...{ drillMembers: [], drillMembersGrouped: { measures: [], dimensions: [] } },
        },
      },
      ...{ dimensions: {}, segments: {} },
      timeDimensions: {
        [`${T}.month`]: { ...created, granularity: { name: 'month', title: 'month', interval: '1 month' } },
        [T]: created,
      },
    });
    expect(body.data).toEqual(
      [
        ['2026-10-01T00:00:00.000', '53'],
        ['2026-11-01T00:00:00.000', '28'],
      ].map(([at, number]) => ({
        [`${T}.month`]: at,
        [T]: at,
        'orders.count': number,
      })),
    );
    expect(body).not.toHaveProperty('total');
    expect(body).toMatchObject({ dataSource: 'default', external: false, slowQuery: false });
  });
  test('numbers are text where they are aggregates, and numbers where the column is', async () => {
    const names = ['average_credit', 'highest_credit', 'lowest_credit', 'countries', 'count'];
    const { body } = await load({ measures: names.map((name) => `customers.${name}`) });
    expect(body.data).toEqual([
      {
        'customers.average_credit': expect.stringMatching(/^12687\.50*$/),
        'customers.highest_credit': 25_000,
        'customers.lowest_credit': 0,
        'customers.countries': '6',
        'customers.count': '120',
      },
    ]);
  });
  test('booleans, empty aggregates, segments and forms of rows', async () => {
    expect(
      (await load({ dimensions: ['customers.is_active'], measures: ['customers.count'] })).body.data,
    ).toEqual([
      { 'customers.is_active': true, 'customers.count': '107' },
      { 'customers.is_active': false, 'customers.count': '13' },
    ]);
    const none = {
      ...filter('orders.country', 'equals', ['XX']),
      measures: ['orders.count', 'orders.total_amount'],
    };
    expect((await load(none)).body.data).toEqual([{ 'orders.count': '0', 'orders.total_amount': null }]);
    const completed = (await load({ ...count, segments: ['orders.completed'] })).body;
    expect(completed.data).toEqual([{ 'orders.count': '319' }]);
    expect(completed.annotation.segments).toEqual({
      'orders.completed': { title: 'Orders Completed', shortTitle: 'Completed' },
    });
    const compact = { ...count, dimensions: ['orders.country'], responseFormat: 'compact' };
    const { data } = (await load(compact)).body;
    expect([data.members, data.dataset.slice(0, 2)]).toEqual([
      ['orders.country', 'orders.count'],
      [
        ['DE', '165'],
        ['US', '144'],
      ],
    ]);
    const empty = { ...compact, filters: [{ member: 'orders.country', operator: 'equals', values: ['XX'] }] };
    expect((await load(empty)).body.data).toEqual({ members: [], dataset: [] });
  });
});

describe('section 5, time', () => {
  const day = (from: string, to = from) => [`${from}T00:00:00.000`, `${to}T23:59:59.999`];
  test.each<[unknown, string[], string?]>([
    [['2026-03-01', '2026-03-31'], day('2026-03-01', '2026-03-31'), '54'],
    [['2026-03-05'], day('2026-03-05'), '4'],
    [
      ['2026-03-01T00:00:00.000', '2026-03-05T12:00:00.000'],
      ['2026-03-01T00:00:00.000', '2026-03-05T12:00:00.000'],
      '8',
    ],
    [['2026-03-31', '2026-03-01'], ['2026-03-31T00:00:00.000', '2026-03-01T23:59:59.999'], '0'],
    ['yesterday', day('2026-11-22')],
    ['tomorrow', day('2026-11-24')],
    ['last week', day('2026-11-16', '2026-11-22')],
    ['last month', day('2026-10-01', '2026-10-31')],
    ['last quarter', day('2026-07-01', '2026-09-30')],
    ['last year', day('2025-01-01', '2025-12-31')],
    ['last 30 days', day('2026-10-24', '2026-11-22')],
    ['last 3 months', day('2026-08-01', '2026-10-31')],
    ['next 2 quarters', day('2027-01-01', '2027-06-30')],
    ['Last Month', day('2026-10-01', '2026-10-31')],
    ['last 24 hours', ['2026-11-22T01:00:00.000', '2026-11-23T00:59:59.999']],
    ['this hour', ['2026-11-23T01:00:00.000', '2026-11-23T01:59:59.999']],
    ['from 30 days ago to 10 days ago', day('2026-10-24', '2026-11-13')],
    ['January 2026', day('2026-01-01')],
  ])('%j is understood', async (dateRange, span, orders = '') => {
    const { body } = await load(range(dateRange));
    expect(body.query.timeDimensions[0].dateRange).toEqual(span);
    if (orders !== '') expect(body.data).toEqual([{ 'orders.count': orders }]);
  });
  test('days without orders are absent', async () => {
    const { body } = await load({ ...count, ...time({ dateRange: 'last 7 days', granularity: 'day' }) });
    expect(body.data.map((row: any) => row[T].slice(8, 10))).toEqual(['16', '17', '18', '20', '21', '22']);
  });
  test('a dimension may name its granularity', async () => {
    const { body } = await load({ ...count, dimensions: [`${T}.year`] });
    expect(body.data).toHaveLength(2);
    expect(Object.keys(body.data[0]).sort()).toEqual([T, `${T}.year`, 'orders.count'].sort());
    expect(body.query.timeDimensions).toEqual([{ dimension: T, granularity: 'year' }]);
  });
  test('a text column is no time; time zones move the borders of days', async () => {
    expect(
      (await load({ ...count, timeDimensions: [{ dimension: 'orders.status', granularity: 'day' }] })).status,
    ).toBe(400);
    const local = { ...count, ...time({ dateRange: ['2026-03-01', '2026-03-03'], granularity: 'day' }) };
    const { body } = await load({ ...local, timezone: 'America/Los_Angeles' });
    expect(body.data.map((row: any) => row['orders.count'])).toEqual(['3', '2', '1']);
    expect((await load({ ...count, timezone: 'europe/berlin' })).status).toBe(200);
  });
});

describe('section 6, filters', () => {
  test.each<[object, string]>([
    [filter('orders.status', 'equals', ['completed']), '319'],
    [filter('orders.status', 'notEquals', ['completed']), '321'],
    [filter('orders.status', 'equals', [null]), '0'],
    [filter('orders.status', 'notEquals', [null]), '640'],
    [filter('orders.status', 'in', ['completed', 'shipped']), '457'],
    [filter('orders.status', 'equals', ['completed', 'shipped']), '457'],
    [filter('orders.status', 'contains', ['%']), '0'],
    [filter('orders.status', 'contains', ['roc', 'ship']), '228'],
    [filter('orders.status', 'notContains', ['roc', 'ship']), '412'],
    [filter('orders.status', 'startsWith', ['COM']), '319'],
    [filter('orders.status', 'endsWith', ['ed']), '550'],
    [filter('orders.status', 'gt', ['m']), '257'],
    [filter('orders.status', 'equals', ['']), '0'],
    [filter('orders.status', 'set'), '640'],
    [customers('customers.credit', 'gt', ['10000']), '75'],
    [customers('customers.credit', 'gte', ['10000']), '75'],
    [customers('customers.credit', 'lte', ['10000']), '45'],
    [customers('customers.credit', 'equals', ['10000']), '0'],
    [customers('customers.is_active', 'equals', ['true']), '107'],
    [customers('customers.is_active', 'equals', ['yes']), '107'],
    [filter(T, 'equals', ['2026-06-01']), '0'],
    [filter(T, 'inDateRange', ['2026-03-01']), '3'],
    [filter(T, 'onTheDate', ['2026-03-01']), '3'],
    [filter(T, 'notInDateRange', ['2026-03-01', '2026-03-31']), '586'],
    [filter(T, 'beforeDate', ['2026-03-01']), '167'],
    [filter(T, 'beforeDate', ['last month']), '549'],
    [{ ...count, filters: [{ or: [] }] }, '640'],
    [{ ...count, filters: [{ dimension: 'orders.country', operator: 'equals', values: ['DE'] }] }, '165'],
    [
      {
        ...count,
        filters: [
          {
            or: [
              { member: 'orders.country', operator: 'equals', values: ['DE'] },
              {
                and: [
                  { member: 'orders.country', operator: 'equals', values: ['US'] },
                  { member: 'orders.status', operator: 'equals', values: ['shipped'] },
                ],
              },
            ],
          },
        ],
      },
      '197',
    ],
  ])('%j counts %s', async (query, number) => {
    const { body } = await load(query);
    expect([body.error, first(body)]).toEqual([undefined, number]);
  });
  test('afterDate begins after the midnight or after the whole day, by the planner', async () => {
    const { body } = await load(filter(T, 'afterDate', ['2026-03-01']));
    expect(['473', '470']).toContain(first(body));
  });
  test('filters on measures come after grouping', async () => {
    const byCountry = { ...count, dimensions: ['orders.country'] };
    const one = { ...byCountry, filters: [{ member: 'orders.count', operator: 'equals', values: ['95'] }] };
    expect((await load(one)).body.data).toEqual([{ 'orders.country': 'FR', 'orders.count': '95' }]);
    const all = { ...byCountry, filters: [{ member: 'orders.total_amount', operator: 'set' }] };
    expect((await load(all)).body.data).toHaveLength(6);
  });
});

describe('section 7, order, limit, ungrouped', () => {
  const byCountry = { ...count, dimensions: ['orders.country'] };
  const names = async (query: object) =>
    (await load(query)).body.data.map((row: any) => row['orders.country']);
  test('both forms of order; a name outside the query has no effect', async () => {
    const ascending = (await load({ ...byCountry, order: { 'orders.count': 'asc' } })).body.data;
    expect(Number(ascending[0]['orders.count'])).toBeLessThan(Number(ascending[5]['orders.count']));
    const order = [
      ['orders.country', 'asc'],
      ['orders.count', 'desc'],
    ];
    expect(await names({ ...byCountry, order })).toEqual(['BR', 'DE', 'FR', 'IN', 'JP', 'US']);
    expect(await names({ ...byCountry, order: { 'orders.status': 'asc' } })).toHaveLength(6);
    expect(await names({ ...byCountry, order: {} })).toHaveLength(6);
    const { body } = await load({ ...count, ...time({ granularity: 'month' }), order: { [T]: 'desc' } });
    const months = body.data.map((row: any) => row[T]);
    expect(months).toEqual([...months].sort().reverse());
  });
  test('limit, offset and total', async () => {
    const { body } = await load({ dimensions: ['customers.name'], limit: 3 });
    expect(body.data.map((row: any) => row['customers.name'])).toEqual([
      'Customer 001',
      'Customer 002',
      'Customer 003',
    ]);
    const page = (await load({ ...byCountry, limit: 2, offset: 2, total: true })).body;
    expect([page.total, page.data.map((row: any) => row['orders.country'])]).toEqual([6, ['BR', 'FR']]);
    expect(await names({ ...byCountry, offset: 4 })).toHaveLength(2);
  });
  test('ungrouped rows count one each, as a number', async () => {
    const { body } = await load({ ...byCountry, ungrouped: true, limit: 1000 });
    expect(body.data).toHaveLength(640);
    expect(new Set(body.data.map((row: any) => row['orders.count']))).toEqual(new Set([1]));
  });
});

describe('section 8, several queries in one', () => {
  const multi = (query: unknown) => load(query, EVERYTHING, { queryType: 'multi' });
  const months = { ...count, ...time({ granularity: 'month', dateRange: ['2026-01-01', '2026-03-31'] }) };
  const compared = { ...count, ...time({ compareDateRange: ['this month', 'last month'] }) };
  test('one query, blended queries and compared ranges', async () => {
    const one = (await multi(count)).body;
    expect([one.queryType, one.results.map((result: any) => result.data)]).toEqual([
      'regularQuery',
      [[{ 'orders.count': '640' }]],
    ]);
    const blended = (await multi([months])).body;
    expect([blended.queryType, blended.pivotQuery]).toEqual([
      'blendingQuery',
      {
        measures: ['orders.count'],
        dimensions: [],
        timeDimensions: [{ dimension: 'time', granularity: 'month' }],
        queryType: 'blendingQuery',
      },
    ]);
    for (const row of blended.results[0].data) expect(row['time.month']).toBe(row[T]);
    const both = (await multi(compared)).body;
    expect([both.queryType, both.pivotQuery.dimensions]).toEqual([
      'compareDateRangeQuery',
      ['compareDateRange'],
    ]);
    expect(both.results.map(({ data }: any) => data)).toEqual([
      [{ 'orders.count': '38', compareDateRange: '2026-11-01T00:00:00.000 - 2026-11-30T23:59:59.999' }],
      [{ 'orders.count': '53', compareDateRange: '2026-10-01T00:00:00.000 - 2026-10-31T23:59:59.999' }],
    ]);
    expect(both.results[1].query.timeDimensions[0].dateRange[0]).toBe('2026-10-01T00:00:00.000');
  });
  test.each<[string, unknown, boolean, string]>([
    [
      'a list without granularity',
      [count, { measures: ['customers.count'] }],
      true,
      'Data blending query without granularity is not supported',
    ],
    ['a list without multi', [count], false, 'Data blending query without granularity is not supported'],
    [
      'two granularities',
      [months, { ...count, ...time({ granularity: 'year' }) }],
      true,
      'Data blending query granularities must match',
    ],
    [
      'compared ranges without multi',
      compared,
      false,
      "'compareDateRangeQuery' query type is not supported by the client.Please update the client.",
    ],
    [
      'two compared times',
      { ...count, timeDimensions: [...compared.timeDimensions, ...compared.timeDimensions] },
      true,
      'compareDateRange can only exist for one timeDimension',
    ],
  ])('%s is refused', async (_title, query, isMulti, error) => {
    const { status, body } = isMulti ? await multi(query) : await load(query);
    expect([status, body.error]).toEqual([400, error]);
  });
});

describe('section 9, sql and dry-run', () => {
  test('sql by GET and POST: the text and its parameters', async () => {
    for (const answer of [
      await call('POST', '/v1/sql', { body: { query: count } }),
      await call('GET', `/v1/sql${address(count)}`),
    ]) {
      expect([answer.status, answer.body.dataSource]).toEqual([200, 'default']);
      expect(answer.body.sql).toMatchObject({
        sql: [expect.stringMatching(/^SELECT .*LIMIT 10000/), []],
        external: false,
        order: {},
      });
      expect(JSON.stringify(answer.body)).not.toContain('store_');
    }
  });
  test('dry-run tells how queries are understood, also several', async () => {
    const { body } = await call('POST', '/v1/dry-run', { body: { query: count } });
    expect(body).toMatchObject({
      queryType: 'regularQuery',
      normalizedQueries: [
        {
          ...{ measures: ['orders.count'], dimensions: [], timeDimensions: [], filters: [], timezone: 'UTC' },
          ...{ limit: 10_000, rowLimit: 10_000, cacheMode: 'stale-if-slow', queryType: 'regularQuery' },
        },
      ],
      queryOrder: [{}],
      pivotQuery: { measures: ['orders.count'] },
    });
    expect(body.transformedQueries).toHaveLength(1);
    const query = {
      ...count,
      ...time({
        compareDateRange: [
          ['2026-01-01', '2026-03-31'],
          ['2026-04-01', '2026-06-30'],
        ],
      }),
    };
    const both = (await call('GET', `/v1/dry-run${address(query)}`)).body;
    expect([both.queryType, both.pivotQuery.dimensions]).toEqual([
      'compareDateRangeQuery',
      ['compareDateRange'],
    ]);
    expect(both.normalizedQueries.map((each: any) => each.timeDimensions[0].dateRange[0])).toEqual([
      '2026-01-01T00:00:00.000',
      '2026-04-01T00:00:00.000',
    ]);
    const bad = await call('POST', '/v1/dry-run', { body: { query: { measures: ['orders.nope'] } } });
    expect([bad.status, bad.body.error]).toEqual([400, "'nope' not found for path 'orders.nope'"]);
  });
});

describe('section 10, meta', () => {
  const meta = async (context: object, more = '') =>
    (await call('GET', `/v1/meta${more}`, { headers: { authorization: bearer(context) } })).body.cubes;
  const namesOf = (cubes: any[]) => cubes.map(({ name }) => name).sort();
  test('cubes by context; views alone', async () => {
    expect(namesOf(await meta(inGroups(['analysts', 'everything'])))).toEqual([
      'countries',
      'customers',
      'orders',
    ]);
    expect(namesOf(await meta({}))).toEqual(['countries']);
    expect(namesOf(await meta(EVERYTHING, '?onlyViews=true'))).toEqual(['customers', 'orders']);
  });
  test('all properties of a cube and its members', async () => {
    const orders = (await meta(EVERYTHING)).find(({ name }: any) => name === 'orders');
    expect(orders).toMatchObject({
      ...{ name: 'orders', type: 'view', title: 'Orders', isVisible: true, public: true },
      ...{ hierarchies: [], folders: [], nestedFolders: [] },
    });
    expect(orders.measures[0]).toEqual({
      ...{
        name: 'orders.count',
        title: 'Orders Count',
        shortTitle: 'Count',
        description: 'Number of orders',
      },
      ...{ type: 'number', aggType: 'count', cumulative: false, cumulativeTotal: false, drillMembers: [] },
      drillMembersGrouped: { measures: [], dimensions: [] },
      ...{ aliasMember: 'raw_orders.count', isVisible: true, public: true },
      formatDescription: { name: 'number', specifier: ',.2~f' },
    });
    expect(orders.dimensions.find(({ name }: any) => name === 'orders.status')).toEqual({
      ...{
        name: 'orders.status',
        title: 'Orders Status',
        shortTitle: 'Status',
        description: 'State of the order',
      },
      ...{ type: 'string', primaryKey: false, suggestFilterValues: true, aliasMember: 'raw_orders.status' },
      ...{ isVisible: true, public: true },
    });
    expect(orders.segments).toEqual([
      {
        name: 'orders.completed',
        title: 'Orders Completed',
        shortTitle: 'Completed',
        isVisible: true,
        public: true,
      },
    ]);
  });
});

test('section 11, the body of cubesql is checked before anything runs', async () => {
  const ask = async (body: object) => {
    const answer = await call('POST', '/v1/cubesql', { body });
    return [answer.status, answer.body.error];
  };
  expect(await ask({})).toEqual([400, 'Invalid query format: "query" is required']);
  expect(await ask({ query: 'select 1', cache: 'x' })).toEqual([
    400,
    'Invalid query format: "cache" must be one of [stale-if-slow, stale-while-revalidate, must-revalidate, no-cache]',
  ]);
});

describe('section 12, policies', () => {
  const byCountry = { ...count, dimensions: ['orders.country'] };
  test('an analyst sees the rows of one country, whatever the query filters', async () => {
    const german = inGroups(['analysts'], { country: 'DE' });
    expect((await load(byCountry, german)).body.data).toEqual([
      { 'orders.country': 'DE', 'orders.count': '165' },
    ]);
    expect((await load(filter('orders.country', 'equals', ['US']), german)).body.data).toEqual([
      { 'orders.count': '0' },
    ]);
  });
  test('a list in a template is one text; a missing or empty attribute matches nothing', async () => {
    for (const attributes of [{ country: ['DE', 'US'] }, {}, { country: '' }])
      expect((await load(byCountry, inGroups(['analysts'], attributes))).body.data).toEqual([]);
  });
  test('without a matching policy the members are hidden', async () => {
    for (const context of [inGroups(['Analysts'], { country: 'DE' }), inGroups(['strangers']), {}]) {
      const { status, body } = await load(byCountry, context);
      expect([status, body.error]).toEqual([
        400,
        expect.stringMatching(
          /^Error: You requested hidden member: 'orders\.count'\. Please make it visible using `public: true`/,
        ),
      ]);
    }
  });
});
