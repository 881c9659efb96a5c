// Tests access to Core Data and the metadata of the model (contract 1.1, 1.3, 5.3 and 5.4).
import { EVERYTHING, GERMAN_ANALYST, inGroups, makeToken, startDataRig, type DataRig } from './data-rig.ts';

let rig: DataRig;
const QUERY = { query: { measures: ['orders.count'] } };
const META_PATHS = ['/v1/meta', '/v1/data-sources', '/v1/entities', '/v1/entities/orders'];
const meta = async (token: object, deployment = '1') =>
  (await rig.ask('GET', '/v1/meta', { token, deployment })).body.cubes;

beforeAll(async () => {
  rig = await startDataRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

test('GEN-04 the data API answers 200 at the base path from the options, and then 404 at the default base path', async () => {
  const other = await startDataRig({ dataPath: '/x' });
  try {
    expect(other.ready.dataApiUrl).toBe(`${other.ready.platformUrl}/x`);
    expect((await other.ask('GET', '/v1/meta')).status).toBe(200);
    expect((await other.ask('GET', '/v1/meta', {}, '/data-api')).status).toBe(404);
  } finally {
    await other.stop();
  }
  await expect(startDataRig({ dataPath: 'x' })).rejects.toThrow('dataPath');
});

test('AUTH-08 Core Data accepts a token bare, with a prefix, or in the header x-cube-authorization', async () => {
  const token = rig.token(EVERYTHING);
  for (const headers of [
    { authorization: token },
    { authorization: `Bearer ${token}` },
    { 'x-cube-authorization': token },
    { 'x-cube-authorization': token, authorization: 'nonsense' },
  ]) {
    expect((await rig.ask('GET', '/v1/meta', { token: null, headers })).status).toBe(200);
  }
});

test("AUTH-09 a data API token signed with another secret answers 403, and each deployment's token reads its own metadata", async () => {
  const foreign = makeToken('another secret', EVERYTHING, Date.now());
  expect((await rig.ask('GET', '/v1/meta', { token: foreign })).status).toBe(403);
  expect((await meta(EVERYTHING, '1')).map((cube: any) => cube.name)).toContain('orders');
  expect((await meta(EVERYTHING, '2')).map((cube: any) => cube.name)).toEqual(['incidents']);
});

test('AUTH-24 GEN-01 Core Data without a token, or with an invalid one, answers 403 with a fixed text for each case', async () => {
  const good = rig.token(EVERYTHING);
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`;
  const expired = makeToken(rig.secretOf('1'), { ...EVERYTHING, exp: 1_000_000 }, Date.now());
  const early = makeToken(rig.secretOf('1'), { ...EVERYTHING, nbf: 9_999_999_999 }, Date.now());
  const bad = [
    `${good}x`,
    good.slice(0, -3),
    unsigned,
    expired,
    early,
    'text',
    'a.b.c',
    rig.key('admin'),
    'x'.repeat(12_000),
  ];
  for (const path of META_PATHS) {
    const bare = await rig.ask('GET', path, { token: null });
    expect([bare.status, bare.body]).toEqual([403, { error: "Authorization header isn't set" }]);
    for (const token of bad) {
      const answer = await rig.ask('GET', path, { token });
      expect([answer.status, answer.body]).toEqual([403, { error: 'Invalid token' }]);
    }
  }
  for (const path of ['/v1/load', '/v1/cubesql']) {
    expect((await rig.ask('POST', path, { token: null, body: QUERY })).status).toBe(403);
    expect((await rig.ask('POST', path, { token: 'text', raw: '{' })).body).toEqual({
      error: 'Invalid token',
    });
  }
  // A platform key is refused with every prefix.
  for (const scheme of ['Bearer', 'Api-Key']) {
    const headers = { authorization: `${scheme} ${rig.key('admin')}` };
    expect((await rig.ask('GET', '/v1/meta', { token: null, headers })).status).toBe(403);
  }
});

test("AUTH-24 a data API token answers 200 before its expiry on the sandbox's clock, and 403 after it", async () => {
  const token = rig.token(EVERYTHING);
  expect((await rig.ask('GET', '/v1/meta', { token })).status).toBe(200);
  await rig.control('POST', '/clock', { advanceMs: 3_601_000 });
  const { status, body } = await rig.ask('GET', '/v1/meta', { token });
  expect([status, body]).toEqual([403, { error: 'Invalid token' }]);
});

test('AUTH-25 META-08 META-12 a meta-sync token gets 200 for metadata and 403 for a query, even if its security context names a scope', async () => {
  const path = '/api/v1/deployments/1/environments';
  const { body } = await rig.call('GET', path);
  const id = body.data.environments[0].id;
  const made = await rig.call('POST', `${path}/${id}/tokens-for-meta-sync`, {
    body: { security_context: { ...EVERYTHING, scope: ['data'] } },
  });
  const token = made.body.data.token as string;
  for (const open of META_PATHS) expect((await rig.ask('GET', open, { token })).status).toBe(200);
  for (const closed of ['/v1/load', '/v1/cubesql']) {
    const sent = closed === '/v1/load' ? QUERY : { query: 'SELECT 1' };
    const answer = await rig.ask('POST', closed, { token, body: sent });
    expect([answer.status, answer.body]).toEqual([403, { error: 'API scope is missing: data' }]);
  }
});

test('AUTH-25 a data API token gets 200 for the scopes that it names and 403 for another; without `scope` it has every scope', async () => {
  const status = async (claims: object) => [
    (await rig.ask('GET', '/v1/meta', { token: { ...EVERYTHING, ...claims } })).status,
    (await rig.ask('POST', '/v1/load', { token: { ...EVERYTHING, ...claims }, body: QUERY })).status,
  ];
  expect(await status({})).toEqual([200, 200]);
  expect(await status({ scope: ['meta', 'data'] })).toEqual([200, 200]);
  expect(await status({ scope: ['data'] })).toEqual([403, 200]);
  expect(await status({ scope: 'meta' })).toEqual([200, 403]);
  expect(await status({ scope: ['chat'] })).toEqual([200, 200]);
  expect(await status({ scope: [] })).toEqual([403, 403]);
  expect(await status({ scope: 7 })).toEqual([403, 403]);
});

test('META-09 tokens with different security contexts list different entities', async () => {
  const names = async (token: object) =>
    (await rig.ask('GET', '/v1/entities', { token })).body.data.entities.map((entity: any) => entity.name);
  expect(await names(EVERYTHING)).toEqual(['countries', 'customers', 'orders']);
  expect(await names(inGroups(['strangers']))).toEqual(['countries']);
  expect((await rig.ask('GET', '/v1/entities/orders', { token: inGroups([]) })).status).toBe(404);
  expect((await meta(inGroups([]))).map((cube: any) => cube.name)).toEqual(['countries']);
});

test('DATA-15 GET /v1/meta lists public cubes and views with their members, and no private cube', async () => {
  const { body } = await rig.ask('GET', '/v1/meta', { token: GERMAN_ANALYST });
  expect(body.cubes.map((cube: any) => [cube.type, cube.name])).toEqual([
    ['cube', 'countries'],
    ['view', 'customers'],
    ['view', 'orders'],
  ]);
  expect(body.cubes.map((cube: any) => cube.name).join()).not.toContain('raw_');
  expect(typeof body.compilerId).toBe('string');
  const orders = body.cubes.find((cube: any) => cube.name === 'orders');
  const shown = (members: any[]) => members.map(({ name, type }) => [name, type]);
  expect(shown(orders.measures)).toEqual([
    ['orders.count', 'number'],
    ['orders.total_amount', 'number'],
  ]);
  expect(shown(orders.dimensions)).toEqual([
    ['orders.country', 'string'],
    ['orders.status', 'string'],
    ['orders.created_at', 'time'],
  ]);
  expect(orders.measures[1]).toMatchObject({
    aggType: 'sum',
    title: 'Orders Total Amount',
    shortTitle: 'Total Amount',
  });
  expect(orders.segments.map((segment: any) => segment.name)).toEqual(['orders.completed']);
});

test('DATA-16 GET /v1/data-sources and /v1/entities return the specified keys, and entities come by name in pages', async () => {
  const sources = (await rig.ask('GET', '/v1/data-sources')).body;
  expect(sources).toEqual({
    data: { data_sources: [{ name: 'default', type: 'duckdb', database: 'sales', schema: 'main' }] },
  });
  const page = async (query: string) => (await rig.ask('GET', `/v1/entities${query}`)).body;
  expect(await page('')).toEqual({
    data: {
      entities: [
        { type: 'cube', name: 'countries' },
        { type: 'view', name: 'customers' },
        { type: 'view', name: 'orders' },
      ],
    },
    pagination: { offset: 0, limit: 20, total: 3 },
  });
  expect(await page('?offset=1&limit=1')).toEqual({
    data: { entities: [{ type: 'view', name: 'customers' }] },
    pagination: { offset: 1, limit: 1, total: 3 },
  });
  expect((await rig.ask('GET', '/v1/entities?limit=x')).status).toBe(400);
  const { body } = await rig.ask('GET', '/v1/entities/orders');
  expect(body.data).toMatchObject({
    type: 'view',
    name: 'orders',
    title: 'Orders',
    description: expect.any(String),
  });
  expect(body.data.measures).toHaveLength(2);
  expect(body.data.table_references).toContainEqual({
    data_source: 'default',
    schema: 'main',
    table: 'orders',
  });
  expect(body.data.cube_references).toEqual(expect.any(Array));
  expect((await rig.ask('GET', '/v1/entities/raw_orders')).body).toEqual({ error: expect.any(String) });
});

test('an unknown path of the data API answers 404 with and without a token, and so does a wrong method', async () => {
  expect((await rig.ask('GET', '/v1/nothing')).status).toBe(404);
  expect((await rig.ask('GET', '/v1/nothing', { token: null })).status).toBe(404);
  expect((await rig.ask('PUT', '/v1/load')).status).toBe(404);
});

test('ERR-10 the fault status429 answers one Core Data query with 429 and Retry-After, and the next query with 200', async () => {
  await rig.control('PATCH', '/faults', {
    rules: [{ path: '/v1/load$', times: 1, status429: { share: 1, retryAfter: 3 } }],
  });
  const first = await rig.ask('POST', '/v1/load', { body: QUERY });
  expect([first.status, first.headers['retry-after'], first.body]).toEqual([
    429,
    '3',
    { error: 'Too many requests' },
  ]);
  expect((await rig.ask('POST', '/v1/load', { body: QUERY })).status).toBe(200);
});

test('the environment of an enabled branch has its own address, at which SQL returns the data of that branch', async () => {
  const path = '/build/api/v1/deployments/1/branches/staging-environment';
  await rig.call('PUT', path, { body: { branchName: 'feature-a', enabled: true } });
  const { body } = await rig.call('GET', '/api/v1/deployments/1/environments');
  const url = (name: string): string =>
    body.data.environments.find((one: any) => one.name === name).api_credentials.rest.url;
  expect(url('main')).toBe(rig.ready.dataApiUrl);
  const prefix = url('feature-a').slice(rig.ready.platformUrl.length);
  const count = (base: string) => rig.rows('SELECT count(*) FROM orders', {}, base);
  expect(await count(prefix)).not.toEqual(await count(rig.base));
});
