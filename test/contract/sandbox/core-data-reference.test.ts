// Compares Core Data with recorded answers of an open-source Cube server 1.7: transport, tokens, query form, answers, time.
import { request } from 'undici';
import { EVERYTHING } from './data-rig.ts';
import {
  address,
  count,
  filter,
  NOW,
  range,
  CREATED_AT,
  time,
  useReference,
} from './core-data-reference-rig.ts';

const { bearer, call, load, rig, sign } = useReference();

describe('transport', () => {
  test('/v1/load returns the same data by GET, by POST and with a trailing slash, and so does GET /v1/subscribe', async () => {
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
  test('/v1/load, /v1/sql and /v1/dry-run without a query, or with a form body, answer 400 "Query param is required"', async () => {
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
  test('the query of /v1/load may be JSON text; a number or broken JSON text answers 400', async () => {
    expect((await load(JSON.stringify(count))).body.data).toEqual([{ 'orders.count': '640' }]);
    expect(await load(5)).toMatchObject({
      status: 400,
      body: { error: 'Invalid query format: "value" must be of type object' },
    });
    expect((await load('{"measures"')).status).toBe(400);
  });
  test('a query of an unknown member answers 400 with the type UserError and the message of Cube', async () => {
    const { status, body } = await call('GET', `/v1/load${address({ measures: ['orders.nope'] })}`);
    expect([status, body]).toEqual([
      400,
      { type: 'UserError', error: "'nope' not found for path 'orders.nope'" },
    ]);
  });
  test('an unknown path or method of the data API answers 404 with a web page', async () => {
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
  test('an OPTIONS preflight of the data API answers 204 without a token, and answers allow every origin', async () => {
    const { statusCode, headers, body } = await request(`${rig().ready.dataApiUrl}/v1/load`, {
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
  test('a query whose filter has 1,500 values returns its count', async () => {
    const values = Array.from({ length: 1500 }, (_, place) => `X${place}`);
    expect((await load(filter('orders.country', 'equals', values))).body.data).toEqual([
      { 'orders.count': '0' },
    ]);
  });
  test('GET /readyz and /livez answer 200 without a token', async () => {
    for (const path of ['/readyz', '/livez']) {
      const { statusCode, body } = await request(`${rig().ready.platformUrl}${path}`);
      expect([statusCode, await body.json()]).toEqual([200, { health: 'HEALTH' }]);
    }
  });
});

describe('tokens', () => {
  const NOT_SET = [403, "Authorization header isn't set"];
  const INVALID = [403, 'Invalid token'];
  const ask = async (authorization: string, path = '/v1/meta'): Promise<unknown[]> => {
    const { status, body } = await call('GET', path, { headers: { authorization } });
    return status === 200 ? [200] : [status, body.error];
  };
  test('the data API reads its token from Authorization, with or without one word before it, and from x-cube-authorization', async () => {
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
  test('the data API accepts tokens signed with HS256, HS384 and HS512; a later nbf or a text as exp answers 403', async () => {
    for (const algorithm of ['HS256', 'HS384', 'HS512'])
      expect(await ask(sign(EVERYTHING, algorithm))).toEqual([200]);
    expect(await ask(sign({ ...EVERYTHING, nbf: NOW / 1000 + 600 }))).toEqual(INVALID);
    expect(await ask(sign({ ...EVERYTHING, exp: '1795400000' }))).toEqual(INVALID);
    expect((await call('POST', '/v1/dry-run', { headers: { authorization: '' } })).status).toBe(403);
  });
});

describe('the form of a query', () => {
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
  ])('the query %j answers 400 with the message of Cube', async (query, error, type = '') => {
    const { status, body } = await load(query);
    expect([status, body]).toEqual([400, type === '' ? { error } : { error, type }]);
  });
  test('a member of a private cube answers 400, views whose cubes are joined can be queried together, and others are refused', async () => {
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
  test('keys of a /v1/load body other than `query` do not change the returned rows', async () => {
    for (const more of [{ cache: 'no-cache' }, { queryType: 'none' }, { anything: 1 }])
      expect((await load(count, EVERYTHING, more)).body.data).toEqual([{ 'orders.count': '640' }]);
  });
});

describe('the answer of one query', () => {
  test('a date range with the granularity month returns one row for each month', async () => {
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
          dimension: CREATED_AT,
          dateRange: ['2026-10-01T00:00:00.000', '2026-11-15T23:59:59.999'],
          granularity: 'month',
        },
      ],
      limit: 50,
      timezone: 'UTC',
      filters: [],
      rowLimit: 50,
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
          title: 'Orders Count',
          shortTitle: 'Count',
          description: 'Number of orders',
          type: 'number',
          drillMembers: [],
          drillMembersGrouped: { measures: [], dimensions: [] },
        },
      },
      dimensions: {},
      segments: {},
      timeDimensions: {
        [`${CREATED_AT}.month`]: {
          ...created,
          granularity: { name: 'month', title: 'month', interval: '1 month' },
        },
        [CREATED_AT]: created,
      },
    });
    expect(body.data).toEqual(
      [
        ['2026-10-01T00:00:00.000', '53'],
        ['2026-11-01T00:00:00.000', '28'],
      ].map(([at, number]) => ({
        [`${CREATED_AT}.month`]: at,
        [CREATED_AT]: at,
        'orders.count': number,
      })),
    );
    expect(body).not.toHaveProperty('total');
    expect(body).toMatchObject({ dataSource: 'default', external: false, slowQuery: false });
  });
  test('counts and averages are returned as text, and the minimum and maximum of a number column as numbers', async () => {
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
  test('a query returns booleans as booleans, a sum of no rows as null, and a compact result without rows as empty lists', async () => {
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

describe('time', () => {
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
  ])('the date range %j is returned with its first and last moment', async (dateRange, span, orders = '') => {
    const { body } = await load(range(dateRange));
    expect(body.query.timeDimensions[0].dateRange).toEqual(span);
    if (orders !== '') expect(body.data).toEqual([{ 'orders.count': orders }]);
  });
  test('a query by day over the last seven days has no row for a day without orders', async () => {
    const { body } = await load({ ...count, ...time({ dateRange: 'last 7 days', granularity: 'day' }) });
    expect(body.data.map((row: any) => row[CREATED_AT].slice(8, 10))).toEqual([
      '16',
      '17',
      '18',
      '20',
      '21',
      '22',
    ]);
  });
  test('a dimension name with a granularity at its end is answered like a time dimension with that granularity', async () => {
    const { body } = await load({ ...count, dimensions: [`${CREATED_AT}.year`] });
    expect(body.data).toHaveLength(2);
    expect(Object.keys(body.data[0]).sort()).toEqual(
      [CREATED_AT, `${CREATED_AT}.year`, 'orders.count'].sort(),
    );
    expect(body.query.timeDimensions).toEqual([{ dimension: CREATED_AT, granularity: 'year' }]);
  });
  test('a time dimension on a text column answers 400, and the timezone of a query moves the limits of its days', async () => {
    expect(
      (await load({ ...count, timeDimensions: [{ dimension: 'orders.status', granularity: 'day' }] })).status,
    ).toBe(400);
    const local = { ...count, ...time({ dateRange: ['2026-03-01', '2026-03-03'], granularity: 'day' }) };
    const { body } = await load({ ...local, timezone: 'America/Los_Angeles' });
    expect(body.data.map((row: any) => row['orders.count'])).toEqual(['3', '2', '1']);
    expect((await load({ ...count, timezone: 'europe/berlin' })).status).toBe(200);
  });
});
