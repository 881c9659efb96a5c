// Tests the client of Core Data against a server that answers as contract 5.1 to 5.5 describes.
import type { ServerResponse } from 'node:http';
import {
  createCoreDataClient,
  EndpointAbsent,
  PlatformAborted,
  PlatformConnection,
  PlatformDecode,
  PlatformTimeout,
  QueryRefused,
  type CoreDataClient,
  type CoreDataOptions,
  type DataRow,
} from '../../../src/platform/library.ts';
import { answerJson, startFakePlatform, thrownBy, type FakePlatform, type Script } from './fake-platform.ts';
import { all } from './sandbox-rig.ts';

const TOKEN = 'header.claims.signature';
let server: FakePlatform;
let script: Script;
let client: CoreDataClient;
const clients: CoreDataClient[] = [];

function clientWith(more: Partial<CoreDataOptions> = {}): CoreDataClient {
  const url = `${server.url}/data-api`;
  const made = createCoreDataClient({ url, token: TOKEN, allowLoopbackHttp: true, ...more });
  clients.push(made);
  return made;
}

beforeAll(async () => {
  server = await startFakePlatform((asked, response) => script(asked, response));
  client = clientWith();
});
beforeEach(() => server.asked.splice(0));
afterAll(async () => {
  await Promise.all(clients.map((one) => one.close()));
  await server.stop();
});

/** Answers with these bodies in order, and with the last one from then on. */
const answers = (...bodies: object[]): void => {
  script = (_asked, response) => answerJson(response, bodies.length > 1 ? bodies.shift() : bodies[0]);
};
/** Answers with these lines; `end` false drops the connection after them. */
const lines = (texts: string[], end = true): void => {
  script = (_asked, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(texts.join('\n'), () => (end ? response.end() : response.destroy()));
  };
};

const RESULT = { data: [{ 'orders.count': '3' }], annotation: { measures: {} }, total: 1 };
const query = { measures: ['orders.count'] };

test('load sends its token without the prefix Bearer to an address below the base path', async () => {
  answers(RESULT);
  expect(await client.load(query)).toEqual({ rows: RESULT.data, total: 1, annotation: { measures: {} } });
  expect(server.asked[0]).toMatchObject({ method: 'POST', target: '/data-api/v1/load', body: { query } });
  expect(server.asked[0]?.headers.authorization).toBe(TOKEN);
});

test('DATA-06 after an answer `Continue wait`, load repeats the request with the same body and span id and the next request number', async () => {
  const wait = { error: 'Continue wait' };
  answers(wait, wait, RESULT);
  expect((await client.load(query)).rows).toEqual(RESULT.data);
  expect(server.asked.map(({ text }) => text)).toEqual(Array(3).fill(JSON.stringify({ query })));
  const ids = server.asked.map(({ headers }) => /^(.+)-span-(\d+)$/.exec(String(headers['x-request-id'])));
  expect(ids.map((id) => id?.[2])).toEqual(['1', '2', '3']);
  expect(new Set(ids.map((id) => id?.[1])).size).toBe(1);
  await client.load(query, { correlationId: 'mine' });
  expect(server.asked.at(-1)?.headers['x-request-id']).toBe('mine-span-1');
});

test('load of a slow query throws PlatformTimeout after queryTimeoutMs, and PlatformAborted when its signal aborts', async () => {
  answers({ error: 'Continue wait' });
  expect(await thrownBy(clientWith({ queryTimeoutMs: 200 }).load(query))).toBeInstanceOf(PlatformTimeout);
  const signal = AbortSignal.timeout(80);
  expect(await thrownBy(client.load(query, { signal }))).toBeInstanceOf(PlatformAborted);
});

test('loadMany turns results in the default, compact and columnar formats into rows', async () => {
  const compact = { members: ['a', 'b'], dataset: [['1', null]] };
  const columnar = {
    members: ['a', 'b'],
    columns: [
      ['1', '2'],
      ['x', 'y'],
    ],
  };
  answers({ queryType: 'multi', results: [RESULT, { data: compact }, { data: columnar }] });
  const results = await client.loadMany([query, query, query]);
  expect(results.map(({ rows }) => rows)).toEqual([
    RESULT.data,
    [{ a: '1', b: null }],
    [
      { a: '1', b: 'x' },
      { a: '2', b: 'y' },
    ],
  ]);
  expect(server.asked[0]?.body).toEqual({ query: [query, query, query], queryType: 'multi' });
  expect(await thrownBy(client.loadMany([query]))).toBeInstanceOf(PlatformDecode);
  answers({ results: [RESULT] });
  expect((await client.load(query)).total).toBe(1);
});

test('rows that are shorter than the list of members or columns throw PlatformDecode', async () => {
  const members = ['a', 'b'];
  for (const data of [
    { members, dataset: [['1', '2'], []] },
    { members, columns: [['1', '2']] },
  ]) {
    answers({ results: [{ data }] });
    expect(await thrownBy(client.load(query))).toBeInstanceOf(PlatformDecode);
  }
  lines([SCHEMA, '{"data":[["DE"]]}']);
  expect(await thrownBy(all(client.sql('SELECT 1')))).toBeInstanceOf(PlatformDecode);
});

test("a refused query throws an error with the platform's message, in which the token is redacted", async () => {
  script = (_asked, response) => answerJson(response, { error: 'no such member', type: 'UserError' }, 400);
  expect(await thrownBy(client.load(query))).toMatchObject({
    name: 'PlatformResponse',
    status: 400,
    platformMessage: 'no such member',
    mayHaveCommitted: false,
  });
  answers({ error: `something else of ${TOKEN}` });
  const refused = await thrownBy(client.load(query));
  expect(refused).toBeInstanceOf(QueryRefused);
  expect(refused).toMatchObject({ platformMessage: 'something else of [redacted]' });
});

test('load sends the cache option if it is given, and none by default', async () => {
  answers(RESULT);
  await client.load(query, { cache: 'no-cache' });
  await client.load(query);
  expect(server.asked.map(({ body }) => body)).toEqual([{ query, cache: 'no-cache' }, { query }]);
});

test('a call of a path that an open-source Cube server lacks throws EndpointAbsent', async () => {
  script = ({ url }, response) => {
    response.writeHead(404, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!DOCTYPE html><html><body><pre>Cannot GET ${url.pathname}</pre></body></html>`);
  };
  const calls = [client.dataSources(), all(client.entities()), client.entity('orders'), all(client.sql('x'))];
  // All at once: a call that fails before somebody waits for it would end the test.
  for (const error of await Promise.all(calls.map(thrownBy))) expect(error).toBeInstanceOf(EndpointAbsent);
  script = (_asked, response) => answerJson(response, { error: 'Entity not found' }, 404);
  expect(await thrownBy(client.entity('nope'))).toMatchObject({ name: 'PlatformResponse', status: 404 });
});

const SCHEMA = '{"schema":[{"name":"country","column_type":"String"},{"name":"n","column_type":"Int64"}]}';

test('sql reports the columns, then returns one row after the other', async () => {
  lines([SCHEMA, '{"data":[["DE","1"],["FR","2"]]}', '', '{"data":[["JP",null]]}']);
  const seen: unknown[] = [];
  const rows = await all(
    client.sql('SELECT 1', { timezone: 'UTC', onColumns: (columns) => seen.push(columns) }),
  );
  expect(rows).toEqual([
    { country: 'DE', n: '1' },
    { country: 'FR', n: '2' },
    { country: 'JP', n: null },
  ]);
  expect(seen).toEqual([
    [
      { name: 'country', type: 'String' },
      { name: 'n', type: 'Int64' },
    ],
  ]);
  expect(server.asked[0]?.body).toEqual({ query: 'SELECT 1', timezone: 'UTC' });
});

test('a SQL query with an empty result gives no rows and no error', async () => {
  lines([SCHEMA, '{"data":[]}', '']);
  expect(await all(client.sql('SELECT 1'))).toEqual([]);
});

test('an error line in a SQL answer throws QueryRefused, also after rows that were returned before', async () => {
  lines(['{"error":"cannot parse"}']);
  expect(await thrownBy(all(client.sql('x')))).toMatchObject({
    name: 'QueryRefused',
    platformMessage: 'cannot parse',
  });
  lines([SCHEMA, '{"data":[["DE","1"]]}', '{"error":"out of memory"}']);
  const rows: DataRow[] = [];
  const read = async () => {
    for await (const row of client.sql('x')) rows.push(row);
  };
  expect(await thrownBy(read())).toBeInstanceOf(QueryRefused);
  expect(rows).toHaveLength(1);
});

test('a SQL answer that is cut off throws PlatformConnection, and one in another form than a table throws PlatformDecode', async () => {
  lines([SCHEMA, '{"data":[["DE","1"]]}', '{"data":[["FR"'], false);
  expect(await thrownBy(all(client.sql('x')))).toBeInstanceOf(PlatformConnection);
  for (const wrong of [
    [SCHEMA, '{"data":[["FR"'],
    ['{"data":[]}'],
    [''],
    ['[]'],
    [SCHEMA, '{"data":["DE"]}'],
    ['{"schema":[{}]}'],
  ]) {
    lines(wrong);
    expect(await thrownBy(all(client.sql('x')))).toBeInstanceOf(PlatformDecode);
  }
});

test('a SQL answer that pauses longer than idleTimeoutMs throws PlatformTimeout', async () => {
  script = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`${SCHEMA}\n`);
  };
  const fault = await thrownBy(all(clientWith({ idleTimeoutMs: 300 }).sql('x')));
  expect(fault).toBeInstanceOf(PlatformTimeout);
}, 10_000);

test('meta, dataSources and entity return the metadata that the platform sends', async () => {
  const member = { name: 'orders.count', title: 'Count', type: 'number', aggType: 'count' };
  answers({ cubes: [{ name: 'orders', type: 'view', title: 'Orders', measures: [member], dimensions: [] }] });
  expect(await client.meta()).toEqual([
    {
      name: 'orders',
      type: 'view',
      title: 'Orders',
      measures: [{ name: 'orders.count', title: 'Count', type: 'number' }],
      dimensions: [],
      segments: [],
    },
  ]);
  answers({ data: { data_sources: [{ name: 'default', type: 'duckdb' }] } });
  expect(await client.dataSources()).toEqual([{ name: 'default', type: 'duckdb' }]);
  answers({ data: { type: 'view', name: 'orders', measures: [], dimensions: [] } });
  expect(await client.entity('orders')).toMatchObject({ name: 'orders', type: 'view' });
});

test('entities are read page by page with an offset', async () => {
  const names = Array.from({ length: 130 }, (_, place) => ({ type: 'cube', name: `c${place}` }));
  script = ({ url }, response) => {
    const offset = Number(url.searchParams.get('offset'));
    const entities = names.slice(offset, offset + Number(url.searchParams.get('limit')));
    answerJson(response, { data: { entities }, pagination: { offset, limit: 100, total: names.length } });
  };
  expect((await all(client.entities())).map(({ name }) => name)).toEqual(names.map(({ name }) => name));
  expect(server.asked).toHaveLength(2);
});

test('a token function is called before every request, and its token is redacted from error messages', async () => {
  let turn = 0;
  const token = () => `token-number-${(turn += 1)}`;
  script = ({ headers }, response) =>
    answerJson(response, { error: `bad ${String(headers.authorization)}` }, 403);
  const fetching = clientWith({ token });
  for (const number of [1, 2]) {
    expect(await thrownBy(fetching.meta())).toMatchObject({ status: 403, platformMessage: 'bad [redacted]' });
    expect(server.asked.at(-1)?.headers.authorization).toBe(`token-number-${number}`);
  }
});
