// Tests traces from push to platform call as a collector receives them.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openTracing, parseTraceparent, type Tracing } from '../../src/support/tracing.ts';
import { startApp, type App } from '../../src/app.ts';
import { randomIds, systemClock } from '../../src/support/sources.ts';
import { silentLogger } from '../../src/support/logger.ts';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  links?: { traceId: string; spanId: string }[];
  attributes: { key: string; value: Record<string, unknown> }[];
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let bridge: Bridge;
let traced: App;
let tracing: Tracing | undefined;
const collected: any[] = [];
const atThePlatform: { method: string; headers: IncomingHttpHeaders }[] = [];
const collector = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    if (request.url === '/v1/traces') collected.push(JSON.parse(Buffer.concat(parts).toString()));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
/** Forwards requests to the sandbox and records them. */
const between = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    atThePlatform.push({ method: request.method ?? '', headers: request.headers });
    const body = Buffer.concat(parts);
    void fetch(bridge.sandbox.ready.platformUrl + request.url, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    }).then(async (answer) => {
      const type = answer.headers.get('content-type') ?? 'application/json';
      response
        .writeHead(answer.status, { 'content-type': type })
        .end(Buffer.from(await answer.arrayBuffer()));
    });
  });
});

beforeAll(async () => {
  const [endpoint, address] = [await listening(collector), await listening(between)];
  bridge = await buildBridge({ role: 'api' });
  const config = structuredClone(bridge.config);
  if (config.targets.main) config.targets.main.url = address;
  tracing = await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  const deps = { logger: silentLogger, clock: systemClock, ids: randomIds, random: Math.random, tracing };
  traced = await startApp(config, 'all', deps);
});
afterAll(async () => {
  await traced.stop();
  await bridge.stop();
  for (const server of [collector, between]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const spans = (): Span[] =>
  collected
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans: found }) => found);
const read = (span: Span | undefined, key: string): unknown =>
  Object.values(span?.attributes.find((each) => each.key === key)?.value ?? {})[0];

test('a push, its sync and its platform calls form one trace, and the calls carry its trace context', async () => {
  const theirs = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const idp = createIdp(`http://127.0.0.1:${traced.port}/scim/v2`, TOKEN);
  const answer = await idp.send(
    'POST',
    '/Users',
    {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'traced@acme.example',
      active: true,
    },
    { traceparent: theirs, 'x-request-id': 'push-of-this-test' },
  );
  expect(answer.status).toBe(201);
  await eventually('applied', async () => (await bridge.platform.user('traced@acme.example'))?.active);
  // The account is active before the sync that made it so has ended.
  await traced.stop();
  await tracing?.stop();

  const inbound = spans().find(({ name }) => name === 'scim create');
  expect(read(inbound, 'bridge.request')).toBe('push-of-this-test');
  expect(inbound?.parentSpanId ?? '').toBe('');
  expect(inbound?.links).toEqual([expect.objectContaining({ traceId: theirs.slice(3, 35) })]);
  const trace = spans().filter(({ traceId }) => traceId === inbound?.traceId);
  const sync = trace.find(({ name }) => name === 'sync User');
  expect(sync?.parentSpanId).toBe(inbound?.spanId);
  expect(read(sync, 'bridge.outcome')).toBe('synced');
  const created = trace.find(({ name }) => name === 'POST /api/scim/v2/Users');
  expect(created?.parentSpanId).toBe(sync?.spanId);
  expect(Number(read(created, 'http.response.status_code'))).toBe(201);

  const post = atThePlatform.find(({ method }) => method === 'POST');
  expect(post?.headers.traceparent).toBe(`00-${created?.traceId}-${created?.spanId}-01`);
  // A trace contains no personal data.
  expect(JSON.stringify(collected)).not.toContain('acme.example');
  expect(JSON.stringify(collected)).toContain('scim-bridge');
});

test('without a collector no span is exported and calls carry no trace header', async () => {
  await expect(openTracing({})).resolves.toBeUndefined();
  await expect(
    openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }),
  ).resolves.toBeUndefined();
});

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
  ['a long text', 'x'.repeat(5000)],
  ['another version', '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ['a trace of zeros', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
  ['capital letters', '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01'],
])('a traceparent header with %s is ignored', (_what, text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});
