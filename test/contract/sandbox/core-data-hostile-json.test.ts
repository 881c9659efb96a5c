// Tests hostile JSON queries: names never become SQL, and values never become patterns.
import { GERMAN_ANALYST, startDataRig, type DataRig } from './data-rig.ts';

let rig: DataRig;

beforeAll(async () => {
  rig = await startDataRig();
});
afterAll(() => rig.stop());

test('a hostile JSON query answers 400, and a hostile filter value matches no row', async () => {
  const name = 'orders.country" FROM memory.store_1.orders --';
  const deep = (depth: number): object =>
    depth === 0 ? { member: 'orders.country', operator: 'set' } : { and: [deep(depth - 1)] };
  const filter = (values: unknown, operator = 'equals') => ({
    measures: ['orders.count'],
    filters: [{ member: 'orders.country', operator, values }],
  });
  const queries: unknown[] = [
    { dimensions: [name] },
    { measures: ["orders.count'; DROP TABLE orders; --"] },
    { dimensions: ['orders.__proto__'] },
    { dimensions: ['__proto__.country'] },
    { dimensions: ['constructor.name'] },
    { dimensions: ['orders.country.x'] },
    { measures: ['orders.count'], filters: [deep(200)] },
    { measures: ['orders.count'], timezone: "UTC'); DROP TABLE x; --" },
    { measures: ['orders.count'], order: { [name]: 'asc' } },
    { measures: ['orders.count'], order: [['orders.count', 'asc; DROP TABLE x']] },
    { measures: ['orders.count'], limit: '1; DROP TABLE x' },
    { measures: ['orders.count'], limit: 1e300 },
    { measures: ['orders.count'], offset: Number.MAX_SAFE_INTEGER + 2 },
    { measures: Array.from({ length: 5000 }, () => 'orders.count') },
    { dimensions: ['raw_customers.name'] },
    { dimensions: ['incidents.severity'] },
    filter([{ toString: 'x' }]),
    filter([['DE']]),
    filter(['x'.repeat(100_000)]),
    filter(['a\u0000b']),
    filter(Array.from({ length: 20_000 }, (_, place) => String(place))),
    filter('DE'),
    {
      measures: ['orders.count'],
      timeDimensions: [{ dimension: 'orders.created_at', granularity: "day', x); --" }],
    },
    {
      measures: ['orders.count'],
      timeDimensions: [{ dimension: 'orders.created_at', dateRange: ["2026-01-01'; --", '2026-01-02'] }],
    },
    {
      measures: ['orders.count'],
      timeDimensions: [{ dimension: 'orders.created_at', dateRange: 'last 99999 years' }],
    },
    { measures: ['orders.count'], timeDimensions: [null] },
    { measures: ['orders.count'], filters: [null] },
    { measures: [null] },
    [],
    null,
  ];
  for (const query of queries) {
    const { status, body } = await rig.load(query, { token: GERMAN_ANALYST });
    expect([JSON.stringify(query).slice(0, 100), status]).toEqual([JSON.stringify(query).slice(0, 100), 400]);
    expect(body).toMatchObject({ error: expect.any(String) });
  }
  for (const value of ["DE' OR '1'='1", "FR') OR TRUE --", '$1', '%', 'ﬀ\u202e']) {
    for (const operator of ['equals', 'contains', 'startsWith', 'endsWith']) {
      const { body } = await rig.load(filter([value], operator), { token: GERMAN_ANALYST });
      expect(body.data).toEqual([{ 'orders.count': '0' }]);
    }
  }
  const { status } = await rig.ask('POST', '/v1/load', {
    raw: `{"query":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  });
  expect(status).toBe(400);
  expect((await rig.control('GET', '/requests')).status).toBe(200);
  expect(await rig.rows('SELECT count(*) FROM orders')).toEqual([['640']]);
});
