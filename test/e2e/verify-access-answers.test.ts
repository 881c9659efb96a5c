// Tests verify-access against a data API that answers as real servers do: rows, refusals, errors, time-outs, web pages.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { decodeJwt } from 'jose';
import { runCli } from '../../src/cli/index.ts';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';
import { unwrapped } from '../support/unwrapped.ts';

interface Answer {
  status?: number;
  body?: unknown;
  text?: string;
  hangs?: boolean;
  drops?: boolean;
}

const ADA = 'ada@acme.example';
const QUERY = JSON.stringify({ measures: ['orders.count'], dimensions: ['orders.country'] });
const META = { cubes: [{ name: 'orders', type: 'view', measures: [], dimensions: [], segments: [] }] };
const HIDDEN =
  "Error: You requested hidden member: 'orders.count'. Please make it visible using `public: true`.";
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
const file = join(folder, 'bridge.json');
let bridge: Bridge;
let server: Server;
let answer: Answer = {};
let meta: Answer = { body: META };
let dataUrl: string;
/** Last segment of the path → the token of the last request to it. */
const tokens = new Map<string, string>();

beforeAll(async () => {
  bridge = await buildBridge();
  const { config, sandbox } = bridge;
  const { platformUrl: url, fixtures } = sandbox.ready;
  const settings = {
    redis: { url: config.redis.url, prefix: config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: { main: { url, token: fixtures.apiKeys.admin, allowLoopbackHttp: true } },
    reconcile: { schedule: null },
  };
  writeFileSync(file, JSON.stringify(settings));
  const ada = await bridge.idp.createUser(ADA);
  await bridge.idp.createGroup('analysts', [ada]);
  await eventually('nothing is left to apply', async () => (await targetHealth(bridge)).dirty === 0);
  server = createServer((request, response) => {
    tokens.set(request.url?.split('/').at(-1) ?? '', request.headers.authorization ?? '');
    const { status = 200, body, text, hangs, drops } = request.url?.endsWith('/v1/meta') ? meta : answer;
    if (drops) request.socket.destroy();
    if (hangs || drops) return;
    const type = text === undefined ? 'application/json' : 'text/html';
    response.writeHead(status, { 'content-type': type }).end(text ?? JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  dataUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/cubejs-api`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await bridge.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function verify(args: string[] = ['--query', QUERY, '--json']) {
  const lines = { out: [] as string[], errors: [] as string[] };
  const log = jest
    .spyOn(console, 'log')
    .mockImplementation((line) => void lines.out.push(unwrapped(String(line))));
  const error = jest
    .spyOn(console, 'error')
    .mockImplementation((line) => void lines.errors.push(String(line)));
  try {
    const address = args.includes('--data-url') ? [] : ['--data-url', dataUrl];
    const all = ['--config', file, 'verify-access', ADA, ...address, ...args];
    const code = await runCli(all, { NO_COLOR: '1', DEPLOYMENT_API_SECRET: 'no-secret-of-this-server-1' });
    return { code, out: lines.out.join('\n'), errors: lines.errors.join('\n') };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

const page = '<!DOCTYPE html><html><body><pre>Cannot POST /v1/load</pre></body></html>';
const refused = (error: string): Answer => ({ status: 400, body: { error } });
const CASES: [
  title: string,
  answer: Answer,
  code: number,
  ok: boolean | null,
  kind: string,
  words: RegExp,
][] = [
  ['rows', { body: { data: [{ 'orders.count': '3' }] } }, 0, true, 'rows', /1 row of the query/],
  ['no rows', { body: { data: [] } }, 2, false, 'rows', /no rows/],
  [
    'hidden member',
    { status: 500, body: { error: HIDDEN } },
    2,
    false,
    'hidden',
    /no policy for a group.*\(analysts\) shows the member, or it is private.*hidden member/,
  ],
  ['hidden member, 403', { status: 403, body: { error: HIDDEN } }, 2, false, 'hidden', /not visible/],
  [
    'unknown member',
    refused("'nope' not found for path 'orders.nope'"),
    2,
    false,
    'refused',
    /did not run.*'nope' not found/,
  ],
  [
    'policy without value',
    refused('Values required for filter: {"member":"orders.region","operator":"in"}'),
    2,
    false,
    'attributeMissing',
    /user attribute.*orders\.region/,
  ],
  [
    'policy value of another form',
    refused('Invalid query format: "filters[0]" does not match any of the allowed types'),
    2,
    false,
    'attributeMissing',
    /user attribute/,
  ],
  [
    'policy value undefined',
    refused('Error: invalid input syntax for type integer: "undefined"'),
    2,
    false,
    'attributeMissing',
    /user attribute/,
  ],
  [
    'scope missing',
    { status: 403, body: { error: 'API scope is missing: data' } },
    1,
    null,
    'notAllowed',
    /refused the token.*API scope is missing/,
  ],
  [
    'compile error',
    { status: 500, body: { error: 'Error: Compile errors:\norders cube: unexpected token' } },
    1,
    null,
    'modelBroken',
    /does not compile.*unexpected token/,
  ],
  [
    'refused secret',
    { status: 403, body: { error: 'Invalid token' } },
    1,
    null,
    'notAllowed',
    /API secret.*Invalid token/,
  ],
  [
    'status 500',
    { status: 500, body: { error: 'Error: connection pool exhausted' } },
    1,
    null,
    'failed',
    /status 500.*connection pool exhausted/,
  ],
  ['page with 200', { text: page }, 1, null, 'webPage', /web page/],
  ['page with 404', { status: 404, text: page }, 1, null, 'webPage', /web page.*Cannot POST/],
  ['another JSON document', { body: { hello: 'world' } }, 1, null, 'unreadable', /not one of the data API/],
  ['Continue wait for ever', { body: { error: 'Continue wait' } }, 1, null, 'timedOut', /within 1 s/],
  ['no answer', { hangs: true }, 1, null, 'timedOut', /within 1 s.*--timeout/],
  ['broken connection', { drops: true }, 1, null, 'unreachable', /cannot be reached/],
];

test.each(CASES)(
  "verify-access turns the data API's answer to a query into exit code, kind and reason: %s",
  async (_title, given, code, ok, kind, words) => {
    answer = given;
    const patience = kind === 'timedOut' ? ['--timeout', '1'] : [];
    const run = await verify(['--query', QUERY, '--json', ...patience]);
    const report = JSON.parse(run.out);
    expect(report.chain.map((link: any) => link.ok ?? null)).toEqual([true, true, true, ok]);
    expect(report.chain[3].detail).toMatch(words);
    expect([run.code, report.ok, report.query.kind]).toEqual([code, ok === true, kind]);
    expect(run.errors === '').toBe(code !== 1);
  },
);

test('verify-access reports a closed port of the data API as an address that cannot be reached', async () => {
  const closed = createServer();
  await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
  const { port } = closed.address() as AddressInfo;
  await new Promise((done) => closed.close(done));
  const address = `http://127.0.0.1:${port}/cubejs-api`;
  const { code, out, errors } = await verify(['--query', QUERY, '--json', '--data-url', address]);
  const report = JSON.parse(out);
  expect(report.chain.map((link: any) => link.ok ?? null)).toEqual([true, true, true, null]);
  expect([code, report.query.kind]).toEqual([1, 'unreachable']);
  expect(report.chain[3].detail).toMatch(/cannot be reached.*--data-url/);
  expect(errors).not.toBe('');
});

test('verify-access reports a malformed filter of the query as refused, and a malformed filter of a policy as a missing attribute', async () => {
  const filters = [{ member: 'orders.country', operator: 'equals', values: ['DE'] }];
  const query = JSON.stringify({ measures: ['orders.count'], filters });
  const kindOf = async (place: number): Promise<[number, string]> => {
    answer = refused(`Invalid query format: "filters[${place}]" does not match any of the allowed types`);
    const { code, out } = await verify(['--query', query, '--json']);
    return [code, JSON.parse(out).query.kind];
  };
  expect([await kindOf(0), await kindOf(1)]).toEqual([
    [2, 'refused'],
    [2, 'attributeMissing'],
  ]);
});

test('verify-access requests tokens that outlive --timeout, up to an hour for the list of entities', async () => {
  answer = { body: { data: [{ 'orders.count': '3' }] } };
  const lifetimes = async (seconds: number): Promise<number[]> => {
    const { code } = await verify(['--query', QUERY, '--json', '--timeout', String(seconds)]);
    expect(code).toBe(0);
    return ['load', 'meta'].map((path) => {
      const { iat = 0, exp = 0 } = decodeJwt(tokens.get(path) ?? '');
      return exp - iat;
    });
  };
  for (const lifetime of await lifetimes(1800)) expect(lifetime).toBeGreaterThan(1800);
  const [query, entities] = await lifetimes(3600);
  expect(query).toBeGreaterThan(3600);
  expect(entities).toBe(3600);
});

test('the list of entities fails → verify-access still shows the rows of the query', async () => {
  meta = { status: 500, body: { error: 'Error: meta is broken' } };
  answer = { body: { data: [{ 'orders.count': '3' }] } };
  const run = await verify();
  meta = { body: META };
  const report = JSON.parse(run.out);
  expect([run.code, report.entities, report.chain[3].ok]).toEqual([0, null, true]);
  expect(report.notes.join()).toContain('meta is broken');
});

test('the text output of verify-access shows four steps, and error messages with escaped control characters', async () => {
  answer = { status: 500, body: { error: 'Error: \u001b[2Jpool exhausted' } };
  const { code, out, errors } = await verify(['--query', QUERY]);
  expect([code, out.match(/^ {2}✔ (push|stored|applied) /gm)?.length]).toEqual([1, 3]);
  expect(out).toMatch(/– visible .*status 500.*pool exhausted/);
  expect(errors).toContain('The stage "visible" could not be checked');
  expect(out + errors).not.toContain('\u001b');
});

test('verify-access --json prints a document even for an unusable query or unusable settings', async () => {
  for (const args of [
    ['--query', '[]'],
    ['--target', 'nowhere'],
    ['--secret-file', '/nowhere'],
  ]) {
    const { code, out, errors } = await verify([...args, '--json']);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      { ok: false, result: 'unknown', asked: ADA, error: expect.any(String) },
    ]);
    expect(errors).not.toBe('');
  }
});

test('verify-access with an unknown deployment reports the steps before the deployment is looked up', async () => {
  const { code, out, errors } = await verify(['--deployment', 'nowhere', '--json']);
  const report = JSON.parse(out);
  expect([code, report.chain.map((link: any) => link.ok ?? null)]).toEqual([1, [true, true, true, null]]);
  expect(errors).toContain('There is no deployment nowhere');
});
