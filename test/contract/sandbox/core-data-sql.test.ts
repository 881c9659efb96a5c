// Tests SQL over the model, streamed line by line (contract 5.2).
import { request } from 'undici';
import { EVERYTHING, GERMAN_ANALYST, inGroups, startDataRig, type DataRig } from './data-rig.ts';

let rig: DataRig;

beforeAll(async () => {
  rig = await startDataRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

test('DATA-09 the first line of a SQL answer is the schema with the name and column type of each column', async () => {
  const [first] = await rig.lines(
    "SELECT country, MEASURE(orders.count) AS n, MEASURE(total_amount) AS total, date_trunc('month', created_at) AS month, true AS yes FROM orders GROUP BY 1, 4 LIMIT 3",
  );
  expect(first).toEqual({
    schema: [
      { name: 'country', column_type: 'String' },
      { name: 'n', column_type: 'Int64' },
      { name: 'total', column_type: 'Double' },
      { name: 'month', column_type: 'Timestamp' },
      { name: 'yes', column_type: 'Boolean' },
    ],
    lastRefreshTime: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

test('DATA-10 after the schema line each line of a SQL answer has only the key data, and all lines together have every row', async () => {
  const [schema, ...rest] = await rig.lines('SELECT country, status, created_at FROM orders');
  expect(Object.keys(schema ?? {})).toContain('schema');
  expect(rest.length).toBeGreaterThan(1);
  for (const line of rest) expect(Object.keys(line)).toEqual(['data']);
  const rows = rest.flatMap((line) => line['data']);
  expect(rows).toHaveLength(640);
  for (const row of rows) {
    expect(row).toEqual([
      expect.any(String),
      expect.any(String),
      expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+$/),
    ]);
  }
});

test('DATA-11 a SQL query without rows answers its schema line and one line {"data":[]}', async () => {
  const lines = await rig.lines("SELECT country FROM orders WHERE country = 'XX'");
  expect(lines.slice(1)).toEqual([{ data: [] }]);
});

test('DATA-12 an invalid SQL query answers one line with error and requestId, and a failing conversion ends with an error line', async () => {
  for (const query of [
    'SELEC 1',
    'SELECT nothing FROM orders',
    'SELECT 1 FROM nowhere',
    'SELECT MEASURE(country) FROM orders',
  ]) {
    const lines = await rig.lines(query, { headers: { 'x-request-id': 'span-1' } });
    expect(lines).toEqual([{ error: expect.any(String), requestId: 'span-1' }]);
  }
  const lines = await rig.lines('SELECT CAST(status AS INTEGER) FROM orders');
  expect(lines.at(-1)).toEqual({ error: expect.any(String) });
});

test('DATA-13 when a SQL query fails after some rows, these rows are sent first and the last line is the error', async () => {
  await rig.control('PATCH', '/settings', { sqlFailAfterRows: 150 });
  const lines = await rig.lines('SELECT country FROM orders');
  expect(lines.flatMap((line) => line['data'] ?? [])).toHaveLength(150);
  expect(lines.at(-1)).toEqual({ error: expect.any(String) });
  expect(lines.slice(0, -1).some((line) => 'error' in line)).toBe(false);
});

test('DATA-13 a SQL result above the maximum number of rows ends with an error line', async () => {
  await rig.control('PATCH', '/settings', { dataRowCap: 100 });
  const lines = await rig.lines('SELECT country FROM orders');
  expect(lines.flatMap((line) => line['data'] ?? [])).toHaveLength(100);
  expect(lines.at(-1)?.['error']).toContain('LIMIT');
  expect(await rig.rows('SELECT country FROM orders LIMIT 100')).toHaveLength(100);
});

test.each(['LIMIT 1.5', 'LIMIT 2 OFFSET 0.5'])(
  'a SQL query with %s is refused with an error line',
  async (end) => {
    const lines = await rig.lines(`SELECT country FROM orders ${end}`);
    expect(lines).toEqual([{ error: expect.stringContaining('that is not a whole number') }]);
  },
);

test('a SQL query returns the same values as the JSON query of the same measures and dimensions', async () => {
  const { body } = await rig.load({
    measures: ['orders.count', 'orders.total_amount'],
    dimensions: ['orders.country'],
  });
  const rows = await rig.rows(
    'SELECT country, MEASURE(count), MEASURE(total_amount) FROM orders GROUP BY country ORDER BY 2 DESC, 1',
  );
  expect(rows).toEqual(
    body.data.map((row: any) => [row['orders.country'], row['orders.count'], row['orders.total_amount']]),
  );
  expect(await rig.rows('SELECT COUNT(*), SUM(total_amount) FROM orders')).toEqual(
    await rig.rows('SELECT MEASURE(orders.count), MEASURE(orders.total_amount) FROM orders'),
  );
});

test('SQL with CTEs, subqueries, joins, CASE, unions or window functions counts the same rows as the plain query', async () => {
  const same = async (left: string, right: string) =>
    expect(await rig.rows(left)).toEqual(await rig.rows(right));
  const german = "SELECT MEASURE(count) FROM orders WHERE country = 'DE'";
  await same("WITH d AS (SELECT * FROM orders WHERE country LIKE 'D_') SELECT count(*) FROM d", german);
  await same("SELECT count(*) FROM (SELECT country AS c FROM public.orders) AS x WHERE c IN ('DE')", german);
  await same(
    "SELECT count(*) FROM orders o JOIN countries c ON o.country = c.code WHERE c.name ILIKE 'ger%'",
    german,
  );
  await same(
    "SELECT count(*) FROM orders WHERE country IN (SELECT code FROM countries WHERE name = 'Germany')",
    german,
  );
  await same("SELECT count(*) FILTER (WHERE country = 'DE') FROM orders", german);
  await same("SELECT sum(CASE WHEN country = 'DE' THEN 1 ELSE 0 END) FROM orders", german);
  await same(
    "SELECT count(*) FROM orders WHERE NOT country <> 'DE' AND created_at <= now() AND created_at > now() - INTERVAL '2 years'",
    german,
  );
  await same(
    "SELECT count(*) FROM orders WHERE country || '!' = 'DE!' AND length(status) BETWEEN 1 AND 99",
    german,
  );
  await same(
    'SELECT MEASURE(o.count) FROM orders AS o WHERE "o"."country" = \'DE\' HAVING MEASURE(o.count) > 1.5',
    german,
  );
  expect(
    await rig.rows('SELECT country FROM orders UNION SELECT code FROM countries ORDER BY 1'),
  ).toHaveLength(6);
  expect(
    await rig.rows('SELECT DISTINCT country FROM orders ORDER BY country DESC LIMIT 2 OFFSET 1'),
  ).toHaveLength(2);
  expect(
    await rig.rows(
      'SELECT country, rank() OVER (ORDER BY count(*) DESC) FROM orders GROUP BY country ORDER BY 2 LIMIT 1',
    ),
  ).toEqual([[expect.any(String), '1']]);
  expect(
    await rig.rows('SELECT extract(year FROM created_at)::int AS y, count(*) FROM orders GROUP BY ALL'),
  ).not.toEqual([]);
  expect(await rig.rows("SELECT 1, 'it''s', null, 1.25, -3, true, 5 % 3, coalesce(null, 'x')")).toEqual([
    ['1', "it's", null, '1.25', '-3', true, '2', 'x'],
  ]);
  expect(
    (
      await rig.lines(
        'SELECT count(*), MEASURE(orders.count), lower(country), 1 AS "a ""b""" FROM orders GROUP BY 3',
      )
    )[0]?.['schema'].map((column: any) => column.name),
  ).toEqual(['count', 'measure(orders.count)', 'lower', 'a "b"']);
});

test('a CTE with the name of a view hides the view, and the body of the CTE still reads the view', async () => {
  const [[count]] = (await rig.rows(
    "WITH orders AS (SELECT * FROM orders WHERE country = 'DE') SELECT count(*) FROM orders",
    { token: EVERYTHING },
  )) as [[string]];
  const [[german]] = (await rig.rows('SELECT count(*) FROM orders', { token: GERMAN_ANALYST })) as [[string]];
  expect(count).toBe(german);
});

test('DATA-17 groups and userAttributes in the token limit the rows in SQL and in JSON queries alike', async () => {
  const counts: Record<string, number> = {};
  for (const country of ['DE', 'FR', 'JP']) {
    const token = inGroups(['analysts'], { country });
    const rows = await rig.rows('SELECT country, count(*) FROM orders GROUP BY 1', { token });
    expect(rows).toEqual([[country, expect.any(String)]]);
    const { body } = await rig.load(
      { measures: ['orders.count'], dimensions: ['orders.country'] },
      { token },
    );
    expect(body.data).toEqual([{ 'orders.country': country, 'orders.count': rows[0]?.[1] }]);
    counts[country] = Number(rows[0]?.[1]);
  }
  expect(new Set(Object.values(counts)).size).toBeGreaterThan(1);
  // A list in a template of a policy is one text, which matches no country.
  const both = await rig.rows('SELECT count(*) FROM orders', {
    token: inGroups(['analysts'], { country: ['DE', 'FR'] }),
  });
  expect(both).toEqual([['0']]);
  const more = await rig.rows('SELECT count(*) FROM orders', {
    token: inGroups(['analysts', 'everything'], { country: 'DE' }),
  });
  expect(more).toEqual([['640']]);
});

test('DATA-18 without a matching access policy a JSON query answers 400 and a SQL query returns no rows', async () => {
  for (const token of [
    inGroups(['strangers'], { country: 'DE' }),
    inGroups([]),
    {},
    { groups: ['everything'] },
    inGroups(['Everything']),
  ]) {
    const query = { measures: ['orders.count'], dimensions: ['orders.country'], total: true };
    const { status, body } = await rig.load(query, { token });
    expect([status, body]).toEqual([400, { error: expect.stringContaining('hidden member') }]);
    expect(await rig.rows('SELECT * FROM orders', { token })).toEqual([]);
    expect(await rig.rows('SELECT count(*), sum(total_amount) FROM orders', { token })).toEqual([
      ['0', null],
    ]);
  }
});

test('DATA-18 an access policy on an attribute that the user lacks returns no rows', async () => {
  for (const attributes of [
    {},
    { country: null },
    { country: [] },
    { country: { DE: true } },
    { Country: 'DE' },
    { country: '' },
  ]) {
    const token = inGroups(['analysts'], attributes);
    expect(await rig.rows('SELECT country FROM orders', { token })).toEqual([]);
  }
  const odd = inGroups(['analysts'], { country: "DE') OR ('1'='1" });
  expect(await rig.rows('SELECT country FROM orders', { token: odd })).toEqual([]);
});

test('each branch has its own data at its address, and an unknown branch answers 404', async () => {
  const count = (prefix: string) => rig.rows('SELECT count(*), sum(total_amount) FROM orders', {}, prefix);
  const at = (branch: string) => `/dev-mode/${branch}${rig.base}`;
  const main = await count(rig.base);
  expect(await count(at('main'))).toEqual(main);
  await view('feature-a', true);
  const branches = [await count(at('feature-a')), await count(at('dev-admin'))];
  await view('feature-a', false);
  expect(new Set([main, ...branches].map((rows) => JSON.stringify(rows))).size).toBe(3);
  expect(await statuses(at('nowhere'))).toEqual([404, 404, 404, 404]);
});

test('STATE-04 the address of a shared branch answers 200 while it is viewed or its environment is enabled, and otherwise 404', async () => {
  const prefix = `/dev-mode/feature-a${rig.base}`;
  const stage = (enabled: boolean) =>
    rig.call('PUT', '/build/api/v1/deployments/1/branches/staging-environment', {
      body: { enabled, branchName: 'feature-a' },
    });
  expect(await statuses(prefix)).toEqual([404, 404, 404, 404]);
  await view('feature-a', true);
  expect(await statuses(prefix)).toEqual([200, 200, 200, 200]);
  await stage(true);
  await view('feature-a', false);
  expect(await statuses(prefix)).toEqual([200, 200, 200, 200]);
  await stage(false);
  expect(await statuses(prefix)).toEqual([404, 404, 404, 404]);
});

const view = (branchName: string, viewing: boolean) =>
  rig.control('POST', '/branches/view', { deploymentId: '1', branchName, viewing });

/** Returns the answers of meta, entities, load and cubesql below a prefix. */
async function statuses(prefix: string): Promise<number[]> {
  const query = { measures: ['orders.count'] };
  const answers = await Promise.all([
    rig.ask('GET', '/v1/meta', {}, prefix),
    rig.ask('GET', '/v1/entities', {}, prefix),
    rig.ask('POST', '/v1/load', { body: { query } }, prefix),
  ]);
  const sql = await request(`${rig.ready.platformUrl}${prefix}/v1/cubesql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: rig.token(EVERYTHING) },
    body: JSON.stringify({ query: 'SELECT count(*) FROM orders' }),
  });
  await sql.body.dump();
  return [...answers, { status: sql.statusCode }].map(({ status }) => status);
}

test('deployments have their own data models and rows', async () => {
  const ops = { deployment: '2' };
  expect(await rig.sqlError('SELECT * FROM orders', ops)).toContain('orders');
  expect(await rig.sqlError('SELECT * FROM incidents')).toContain('incidents');
  expect(await rig.rows('SELECT count(*) FROM incidents', ops)).toEqual([['280']]);
  expect(
    await rig.rows('SELECT DISTINCT country FROM incidents', {
      ...ops,
      token: inGroups(['operators'], { country: 'JP' }),
    }),
  ).toEqual([['JP']]);
});

test('each of 50 concurrent SQL and JSON queries gets the rows of its own token', async () => {
  const countries = ['DE', 'US', 'FR', 'JP', 'BR', 'IN'];
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, place) => {
      const country = countries[place % countries.length] ?? 'DE';
      const token = inGroups(['analysts'], { country });
      if (place % 2 === 0)
        return { country, rows: await rig.rows('SELECT DISTINCT country FROM orders', { token }) };
      const { body } = await rig.load({ dimensions: ['orders.country'] }, { token });
      return { country, rows: body.data.map((row: any) => [row['orders.country']]) };
    }),
  );
  for (const { country, rows } of answers) expect(rows).toEqual([[country]]);
});
