// Compares Core Data with recorded answers of an open-source Cube server 1.7: filters, order, several queries, metadata, policies.
import { EVERYTHING, inGroups } from './data-rig.ts';
import {
  address,
  count,
  customers,
  filter,
  firstValue,
  CREATED_AT,
  time,
  useReference,
} from './core-data-reference-rig.ts';

const { bearer, call, load } = useReference();

describe('filters', () => {
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
    [filter(CREATED_AT, 'equals', ['2026-06-01']), '0'],
    [filter(CREATED_AT, 'inDateRange', ['2026-03-01']), '3'],
    [filter(CREATED_AT, 'onTheDate', ['2026-03-01']), '3'],
    [filter(CREATED_AT, 'notInDateRange', ['2026-03-01', '2026-03-31']), '586'],
    [filter(CREATED_AT, 'beforeDate', ['2026-03-01']), '167'],
    [filter(CREATED_AT, 'beforeDate', ['last month']), '549'],
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
  ])('a query with the filter %j counts %s rows', async (query, number) => {
    const { body } = await load(query);
    expect([body.error, firstValue(body)]).toEqual([undefined, number]);
  });
  test("the filter afterDate with a date counts rows after the start or the end of this day, as Cube's planners differ", async () => {
    const { body } = await load(filter(CREATED_AT, 'afterDate', ['2026-03-01']));
    expect(['473', '470']).toContain(firstValue(body));
  });
  test('a filter on a measure selects the groups whose aggregated value matches', async () => {
    const byCountry = { ...count, dimensions: ['orders.country'] };
    const one = { ...byCountry, filters: [{ member: 'orders.count', operator: 'equals', values: ['95'] }] };
    expect((await load(one)).body.data).toEqual([{ 'orders.country': 'FR', 'orders.count': '95' }]);
    const all = { ...byCountry, filters: [{ member: 'orders.total_amount', operator: 'set' }] };
    expect((await load(all)).body.data).toHaveLength(6);
  });
});

describe('order, limit, offset and ungrouped', () => {
  const byCountry = { ...count, dimensions: ['orders.country'] };
  const names = async (query: object) =>
    (await load(query)).body.data.map((row: any) => row['orders.country']);
  test('`order` of a query may be an object or a list, and a member in it that the query does not select is ignored', async () => {
    const ascending = (await load({ ...byCountry, order: { 'orders.count': 'asc' } })).body.data;
    expect(Number(ascending[0]['orders.count'])).toBeLessThan(Number(ascending[5]['orders.count']));
    const order = [
      ['orders.country', 'asc'],
      ['orders.count', 'desc'],
    ];
    expect(await names({ ...byCountry, order })).toEqual(['BR', 'DE', 'FR', 'IN', 'JP', 'US']);
    expect(await names({ ...byCountry, order: { 'orders.status': 'asc' } })).toHaveLength(6);
    expect(await names({ ...byCountry, order: {} })).toHaveLength(6);
    const { body } = await load({
      ...count,
      ...time({ granularity: 'month' }),
      order: { [CREATED_AT]: 'desc' },
    });
    const months = body.data.map((row: any) => row[CREATED_AT]);
    expect(months).toEqual([...months].sort().reverse());
  });
  test('limit and offset select rows of a result, and total counts the rows without limit and offset', async () => {
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
  test('in an ungrouped query a count is 1 in each row', async () => {
    const { body } = await load({ ...byCountry, ungrouped: true, limit: 1000 });
    expect(body.data).toHaveLength(640);
    expect(new Set(body.data.map((row: any) => row['orders.count']))).toEqual(new Set([1]));
  });
});

describe('queries with queryType multi', () => {
  const multi = (query: unknown) => load(query, EVERYTHING, { queryType: 'multi' });
  const months = { ...count, ...time({ granularity: 'month', dateRange: ['2026-01-01', '2026-03-31'] }) };
  const compared = { ...count, ...time({ compareDateRange: ['this month', 'last month'] }) };
  test('/v1/load with queryType multi answers single, blended and compared queries with queryType and one result for each part', async () => {
    const one = (await multi(count)).body;
    expect([one.queryType, one.results.map((result: any) => result.data)]).toEqual([
      'regularQuery',
      [[{ 'orders.count': '640' }]],
    ]);
    const blended = (await multi([months])).body;
    expect([blended.queryType, blended.pivotQuery]).toEqual([
      'blendingQuery',
      {
        filters: [],
        limit: 10_000,
        rowLimit: 10_000,
        timezone: 'UTC',
        measures: ['orders.count'],
        dimensions: [],
        timeDimensions: [{ dimension: 'time', granularity: 'month' }],
        queryType: 'blendingQuery',
      },
    ]);
    for (const row of blended.results[0].data) expect(row['time.month']).toBe(row[CREATED_AT]);
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
      'a list of queries without granularity',
      [count, { measures: ['customers.count'] }],
      true,
      'Data blending query without granularity is not supported',
    ],
    [
      'a list of queries without queryType multi',
      [count],
      false,
      'Data blending query without granularity is not supported',
    ],
    [
      'two granularities',
      [months, { ...count, ...time({ granularity: 'year' }) }],
      true,
      'Data blending query granularities must match',
    ],
    [
      'compared date ranges without queryType multi',
      compared,
      false,
      "'compareDateRangeQuery' query type is not supported by the client.Please update the client.",
    ],
    [
      'two compared time dimensions',
      { ...count, timeDimensions: [...compared.timeDimensions, ...compared.timeDimensions] },
      true,
      'compareDateRange can only exist for one timeDimension',
    ],
  ])(
    'a /v1/load request with %s answers 400 with the message of Cube',
    async (_title, query, isMulti, error) => {
      const { status, body } = isMulti ? await multi(query) : await load(query);
      expect([status, body.error]).toEqual([400, error]);
    },
  );
});

describe('sql and dry-run', () => {
  test('/v1/sql returns the SQL text and its parameters by GET and POST, without the name of an internal table', async () => {
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
  test('/v1/dry-run returns queryType and the normalized form of a query, and of each part of a compared query', async () => {
    const { body } = await call('POST', '/v1/dry-run', { body: { query: count } });
    expect(body).toMatchObject({
      queryType: 'regularQuery',
      normalizedQueries: [
        {
          measures: ['orders.count'],
          dimensions: [],
          timeDimensions: [],
          filters: [],
          timezone: 'UTC',
          limit: 10_000,
          rowLimit: 10_000,
          cacheMode: 'stale-if-slow',
          queryType: 'regularQuery',
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

describe('meta', () => {
  const meta = async (context: object, more = '') =>
    (await call('GET', `/v1/meta${more}`, { headers: { authorization: bearer(context) } })).body.cubes;
  const namesOf = (cubes: any[]) => cubes.map(({ name }) => name).sort();
  test('/v1/meta lists the cubes that the security context allows, and only the views with onlyViews=true', async () => {
    expect(namesOf(await meta(inGroups(['analysts', 'everything'])))).toEqual([
      'countries',
      'customers',
      'orders',
    ]);
    expect(namesOf(await meta({}))).toEqual(['countries']);
    expect(namesOf(await meta(EVERYTHING, '?onlyViews=true'))).toEqual(['customers', 'orders']);
  });
  test('/v1/meta returns every property of a view and of its members', async () => {
    const orders = (await meta(EVERYTHING)).find(({ name }: any) => name === 'orders');
    expect(orders).toMatchObject({
      name: 'orders',
      type: 'view',
      title: 'Orders',
      isVisible: true,
      public: true,
      hierarchies: [],
      folders: [],
      nestedFolders: [],
    });
    expect(orders.measures[0]).toEqual({
      name: 'orders.count',
      title: 'Orders Count',
      shortTitle: 'Count',
      description: 'Number of orders',
      type: 'number',
      aggType: 'count',
      cumulative: false,
      cumulativeTotal: false,
      drillMembers: [],
      drillMembersGrouped: { measures: [], dimensions: [] },
      aliasMember: 'raw_orders.count',
      isVisible: true,
      public: true,
      formatDescription: { name: 'number', specifier: ',.2~f' },
    });
    expect(orders.dimensions.find(({ name }: any) => name === 'orders.status')).toEqual({
      name: 'orders.status',
      title: 'Orders Status',
      shortTitle: 'Status',
      description: 'State of the order',
      type: 'string',
      primaryKey: false,
      suggestFilterValues: true,
      aliasMember: 'raw_orders.status',
      isVisible: true,
      public: true,
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

test('a cubesql request without a query, or with an unknown cache mode, answers 400 with the reason', async () => {
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

describe('access policies', () => {
  const byCountry = { ...count, dimensions: ['orders.country'] };
  test('an analyst of one country sees only its rows, whatever country the query filters by', async () => {
    const german = inGroups(['analysts'], { country: 'DE' });
    expect((await load(byCountry, german)).body.data).toEqual([
      { 'orders.country': 'DE', 'orders.count': '165' },
    ]);
    expect((await load(filter('orders.country', 'equals', ['US']), german)).body.data).toEqual([
      { 'orders.count': '0' },
    ]);
  });
  test('a row filter with a template such as `{ userAttributes.country }` matches no row if the attribute is a list, missing or empty', async () => {
    for (const attributes of [{ country: ['DE', 'US'] }, {}, { country: '' }])
      expect((await load(byCountry, inGroups(['analysts'], attributes))).body.data).toEqual([]);
  });
  test('without a matching access policy a query answers 400 and names the hidden member', async () => {
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
