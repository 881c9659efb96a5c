// Tests the client of Core Data against the sandbox: queries, SQL, metadata and row policies.
import { SignJWT } from 'jose';
import { createCoreDataClient, QueryRefused, type CoreDataClient } from '../../../src/platform/library.ts';
import { thrownBy } from './fake-platform.ts';
import { all, startClientRig, type ClientRig } from './sandbox-rig.ts';

let rig: ClientRig;

beforeAll(async () => {
  rig = await startClientRig();
});
afterAll(() => rig.stop());

/** Creates a client whose token has these groups and this country. */
function clientOf(groups: string[], userAttributes: object = {}): CoreDataClient {
  const { apiSecret = '' } = rig.ready.fixtures.deployments[0] ?? {};
  const token = () =>
    new SignJWT({ cubeCloud: { groups, userAttributes } })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(apiSecret));
  return rig.kept(createCoreDataClient({ url: rig.ready.dataApiUrl, token, allowLoopbackHttp: true }));
}

const byCountry = { measures: ['orders.count'], dimensions: ['orders.country'] };
const countries = (rows: Record<string, unknown>[]) => rows.map((row) => row['orders.country']);

test("load returns the rows that the token's groups and attributes allow, in the default, compact and columnar format alike", async () => {
  const everything = clientOf(['everything']);
  const { rows, annotation } = await everything.load(byCountry);
  expect(rows.length).toBeGreaterThan(2);
  expect(Object.keys(annotation)).toContain('measures');
  for (const responseFormat of ['compact', 'columnar'] as const) {
    expect((await everything.load({ ...byCountry, responseFormat })).rows).toEqual(rows);
  }
  const german = await clientOf(['analysts'], { country: 'DE' }).load(byCountry);
  expect(countries(german.rows)).toEqual(['DE']);
  const timeDimensions = [{ dimension: 'orders.created_at', granularity: 'year' }];
  const byYear = { ...byCountry, timeDimensions };
  const [whole, part] = await everything.loadMany([byYear, { ...byYear, limit: 1 }]);
  expect([whole?.rows.length, part?.rows.length]).toEqual([2 * rows.length, 1]);
  expect(Object.keys(part?.rows[0] ?? {})).toContain('time.year');
});

test("sql returns the rows that the token's groups and attributes allow, and throws QueryRefused for invalid SQL", async () => {
  const sql = 'SELECT country, MEASURE(count) AS n FROM orders GROUP BY 1';
  const rows = await all(clientOf(['analysts'], { country: 'FR' }).sql(sql));
  expect(rows).toEqual([{ country: 'FR', n: expect.anything() }]);
  expect(await thrownBy(all(clientOf(['everything']).sql('SELECT FROM WHERE')))).toBeInstanceOf(QueryRefused);
});

test('with a metadata token the client reads the data model, and a query throws 403', async () => {
  const [environment] = await all(rig.client.environments.list('1', { type: 'production' }));
  const securityContext = { cubeCloud: { groups: ['everything'], userAttributes: {} } };
  const at = { deploymentId: '1', environmentId: environment?.id ?? '' };
  const { token } = await rig.client.environments.createMetaToken(at, { securityContext });
  const client = rig.kept(
    createCoreDataClient({ url: environment?.restUrl ?? '', token, allowLoopbackHttp: true }),
  );
  const orders = (await client.meta()).find(({ name }) => name === 'orders');
  expect(orders?.measures.map(({ name }) => name)).toContain('orders.count');
  expect((await all(client.entities())).map(({ name }) => name)).toContain('orders');
  expect((await client.entity('orders')).name).toBe('orders');
  expect((await client.dataSources()).length).toBeGreaterThan(0);
  const refused = { name: 'PlatformResponse', status: 403 };
  expect(await thrownBy(client.load(byCountry))).toMatchObject(refused);
  expect(await thrownBy(all(client.sql('SELECT 1')))).toMatchObject(refused);
});

test('generatedSql returns the SQL of a query and dryRun its normalized form; an unknown member is refused with 400', async () => {
  const everything = clientOf(['everything']);
  const filters = [{ member: 'orders.country', operator: 'equals', values: ['DE'] }];
  const { sql, parameters } = await everything.generatedSql({ ...byCountry, filters });
  expect(sql).toMatch(/^SELECT/i);
  expect(Array.isArray(parameters)).toBe(true);
  const { queryType, queries } = await everything.dryRun({ ...byCountry, filters });
  expect([queryType, queries.length]).toEqual(['regularQuery', 1]);
  expect(queries[0]).toMatchObject({ measures: ['orders.count'], filters });
  const unknown = { measures: ['orders.nope'] };
  expect(await thrownBy(everything.generatedSql(unknown))).toMatchObject({ status: 400 });
  expect(await thrownBy(everything.dryRun(unknown))).toMatchObject({ status: 400 });
});
