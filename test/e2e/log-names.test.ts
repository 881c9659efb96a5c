// Tests that the logs contain no personal data: names, values and tokens of this file must not occur in them.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { createKeyspace } from '../../src/directory/keys.ts';
import { routeOf } from '../../src/http/middleware/request-context.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { byHand } from '../support/by-hand.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView } from '../support/platform-view.ts';

/** Part of every personal value. */
const NAME = 'quxley';
const SECRET = 'zanzibar';
const TOKEN = `${SECRET}-inbound-0123456789`;
const ADMIN = `${SECRET}-admin-0123456789`;
/** Number of consecutive answers 404 after which the next one counts as a refusal (sync/calls/failures.ts). */
const REFUSED_AFTER = 8;
const prefix = `log-names-${Date.now()}`;

let sandbox: Sandbox;
let refusing: Server;
let broken: Server;
let without: Server;
let bridge: BridgeProcess;

/** A platform that quotes the request in its error messages, as the real one does. */
async function startQuoting(status: number): Promise<Server> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const detail = `${NAME}: ${decodeURIComponent(request.url ?? '')} ${body}`;
      response.writeHead(status, { 'content-type': 'application/scim+json' }).end(JSON.stringify({ detail }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const targetAt = (url: string, token = `${SECRET}-platform-0123456789`) => ({
  url,
  token,
  allowLoopbackHttp: true,
  attributes: { title: { type: 'string', from: 'title' } },
});
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  sandbox = await startSandbox();
  refusing = await startQuoting(400);
  broken = await startQuoting(500);
  without = await startQuoting(404);
  const { platformUrl, fixtures } = sandbox.ready;
  bridge = await startBridgeProcess({
    server: { adminToken: ADMIN },
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: {
      default: {
        tokens: [{ name: 'primary', secret: TOKEN }],
        targets: ['main', 'refusing', 'broken', 'without'],
      },
    },
    targets: {
      main: targetAt(platformUrl, fixtures.apiKeys.admin),
      refusing: targetAt(urlOf(refusing)),
      broken: targetAt(urlOf(broken)),
      without: targetAt(urlOf(without)),
    },
    reconcile: { schedule: '*/5 * * * * *' },
  });
}, 60_000);

afterAll(async () => {
  await bridge.stop();
  await sandbox.stop();
  for (const server of [refusing, broken, without]) await new Promise((resolve) => server.close(resolve));
});

const lines = (): any[] =>
  bridge
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
const told = (message: string, fields: object = {}) =>
  eventually(`the log says: ${message}`, () =>
    lines().some(
      (line) => line.msg === message && Object.entries(fields).every(([key, value]) => line[key] === value),
    ),
  );

async function ask(path: string, init: { method?: string; token?: string; body?: string; id?: string } = {}) {
  const { method = 'GET', token = ADMIN, body, id } = init;
  const answer = await fetch(`http://127.0.0.1:${bridge.port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(id ? { 'x-request-id': id } : {}),
    },
    ...(body === undefined ? {} : { body }),
  });
  await answer.text();
  return answer.status;
}

test('the log of the service names each admin API request by its route, with {id} in place of names and ids', async () => {
  const headers = { authorization: `Bearer ${ADMIN}` };
  const answer = await fetch(`http://127.0.0.1:${bridge.port}/admin/v1/openapi.json`, { headers });
  const { paths } = (await answer.json()) as { paths: object };
  for (const path of Object.keys(paths)) {
    const called = path.replaceAll(/\{\w+\}/g, 'jo@acme.example');
    expect(routeOf(called)).toBe(path.replaceAll(/\{\w+\}/g, '{id}'));
  }
});

test('the log of the service contains no name, value or token after pushes, lookups, refusals and failures', async () => {
  const idp = createIdp(bridge.baseUrl, TOKEN);
  const platform = createPlatformView(sandbox.ready.controlUrl);
  const userName = `${NAME}@acme.example`;
  const id = await idp.createUser(userName, { title: `title-${NAME}`, nickName: NAME });
  const group = await idp.createGroup(`Case ${NAME}`, [id]);
  await eventually('the member is at the platform', async () => (await platform.user(userName))?.active);
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: `new-${NAME}` });
  for (const path of [
    `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`,
    `/Users?filter=${encodeURIComponent(`title co "${NAME}" and (`)}`,
    `/Users/${encodeURIComponent(userName)}`,
    `/${NAME}`,
    `/Groups/${group}?attributes=${NAME}`,
    `/Users/%zz${NAME}`,
  ]) {
    await idp.send('GET', path);
  }
  await idp.send('POST', '/Users', { userName });
  await idp.send('POST', '/Users', `{"userName": "${NAME}`);
  await idp.send('POST', '/Users', { userName: `${NAME}\u0007`, emails: `${NAME}@x.example` });
  await idp.patch(`/Users/${id}`, { op: 'replace', path: `${NAME}[value eq "${NAME}"]`, value: NAME });
  await idp.send('POST', '/Bulk', {
    Operations: [{ method: 'DELETE', path: `/Users/${NAME}` }],
  });

  expect(await ask('/scim/v2/Users', { token: `${SECRET}-wrong-0123456789` })).toBe(401);
  expect(await ask('/scim/v2/Users', { token: `${SECRET}.${SECRET}.${SECRET}` })).toBe(401);
  expect(await ask(`/connections/${NAME}/scim/v2/Users/${NAME}`, { token: TOKEN })).toBe(404);
  expect(await ask(`/admin/v1/explain?resource=${userName}`)).toBe(200);
  expect(await ask(`/admin/v1/approvals/${NAME}`)).toBeGreaterThanOrEqual(400);
  expect(await ask(`/admin/${NAME}`)).toBe(404);
  for (let n = 0; n < 12; n++) await ask('/admin/v1/status', { token: `${SECRET}-guess` });
  expect(await ask('/scim/v2/Users', { token: TOKEN, id: `${NAME}@acme.example` })).toBe(200);
  expect(await ask('/scim/v2/Users', { token: TOKEN, id: NAME.repeat(20) })).toBe(200);

  await told('request', { route: '/scim/v2/Users/{id}', method: 'PATCH' });
  await told('request', { route: '/admin/{id}' });
  await told('wrong admin tokens again and again');
  await told('applied');
  await told('needs a person: see scim-bridge dead-letters list');
  await told('platform failed, trying again');

  // Somebody closes the account, and it cannot be read any more.
  const { scimId = '' } = (await platform.user(userName)) ?? {};
  await byHand({ sandbox }, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: false });
  const unread = {
    method: 'GET',
    path: `/Users/${scimId}$`,
    times: 9999,
    status5xx: { share: 1, status: 503 },
  };
  await platform.control('PATCH', '/faults', { rules: [unread] });
  const differing = 'reconciled, differences found: see scim-bridge status';
  await told(differing, { target: 'main', outcome: 'unproven', unread: 1 });
  await platform.control('PATCH', '/faults', {});

  // After this many answers 404 they count as a refusal, in the words of the platform. Each push is tried at once.
  const failures = () => lines().filter(({ target, attempt }) => target === 'without' && attempt > 0);
  while (!failures().some(({ attempt }) => attempt > REFUSED_AFTER)) {
    const known = failures().length;
    await idp.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: `${known}-${NAME}` });
    await eventually('the target was tried again', () => failures().length > known);
  }

  const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  await redis.set(createKeyspace(prefix, 'default').key('userNames'), 'not a hash');
  expect((await idp.send('POST', '/Users', { userName: `second-${NAME}` })).status).toBe(500);
  await redis.quit();
  await told('request failed unexpectedly');

  await bridge.terminate();
  const log = bridge.output();
  // The first log lines are still there, so the log was not cut.
  expect(log).toContain('"msg":"listening"');
  for (const line of log.split('\n')) {
    expect(line.toLowerCase()).not.toContain(NAME);
    expect(line.toLowerCase()).not.toContain(SECRET);
    expect(line).not.toContain(sandbox.ready.fixtures.apiKeys.admin);
  }
}, 90_000);
