// Tests the authentication of the admin API.
import { ADMIN_TOKEN, buildBridge } from '../../support/build-bridge.ts';
import { openAdmin, type AdminRig } from './rig.ts';

let rig: AdminRig;
const authorization = `Bearer ${ADMIN_TOKEN}`;

beforeAll(async () => {
  rig = await openAdmin();
}, 60_000);
afterAll(() => rig.bridge.stop());

test('without an admin token in the settings every address below /admin answers 404', async () => {
  const bridge = await buildBridge({
    role: 'api',
    configure: ({ server }) => (server.adminToken = null),
  });
  try {
    for (const path of ['/admin', '/admin/', '/admin/v1/status', '/admin/v1/openapi.json', '/admin/app.js']) {
      const response = await fetch(`http://127.0.0.1:${bridge.app.port}${path}`, {
        headers: { authorization },
      });
      expect([path, response.status]).toEqual([path, 404]);
      await response.text();
    }
  } finally {
    await bridge.stop();
  }
}, 60_000);

test.each([
  ['no Authorization header', undefined],
  ['an empty token', 'Bearer '],
  ['a wrong token', 'Bearer wrong'],
  ['the token without its last character', `Bearer ${ADMIN_TOKEN.slice(0, -1)}`],
  ['the token and one more character', `Bearer ${ADMIN_TOKEN}x`],
  ['the token of an identity provider', 'Bearer a-token-for-tests-only-0123456789'],
  ['the token without a scheme', ADMIN_TOKEN],
  ['another scheme', `Basic ${Buffer.from(`admin:${ADMIN_TOKEN}`).toString('base64')}`],
])('a request to the admin API with %s answers 401 with a Bearer challenge', async (_name, header) => {
  const response = await rig.raw('/admin/v1/status', { headers: header ? { authorization: header } : {} });
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toContain('Bearer');
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  await expect(response.json()).resolves.toMatchObject({
    status: 401,
    detail: expect.stringContaining('Bearer'),
  });
});

test('repeated wrong admin tokens answer 429, and the right token still answers 200', async () => {
  const guess = (index: number) =>
    rig.raw('/admin/v1/status', { headers: { authorization: `Bearer guess-${index}` } });
  let last = await guess(0);
  for (let index = 1; index < 15 && last.status === 401; index++) last = await guess(index);
  expect(last.status).toBe(429);
  expect(last.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(last.headers.get('connection')).toBe('close');
  // A request without a token is no guess.
  expect((await rig.raw('/admin/v1/status')).status).toBe(401);
  expect((await rig.operator.get('/status')).status).toBe(200);
  expect(rig.bridge.logs.join('')).not.toContain('guess-');
});

const guessFrom = async ({ raw }: AdminRig, client: string): Promise<number> => {
  const headers = { authorization: 'Bearer a-wrong-guess', 'x-forwarded-for': client };
  const response = await raw('/admin/v1/status', { headers });
  await response.text();
  return response.status;
};

test('behind a trusted proxy only the client that sends wrong tokens gets 429', async () => {
  const behind = await openAdmin({
    configure: ({ server }) => (server.trustedProxies = ['127.0.0.1', '10.0.0.0/8']),
  });
  try {
    const guesses: number[] = [];
    for (let index = 0; index < 11; index++)
      guesses.push(await guessFrom(behind, `198.51.100.${index}, 203.0.113.7, 10.1.2.3`));
    expect(guesses).toEqual([...Array<number>(10).fill(401), 429]);
    expect(await guessFrom(behind, '203.0.113.8')).toBe(401);
    expect(behind.bridge.logs.filter((line) => line.includes('wrong admin tokens'))).toEqual([
      expect.stringContaining('"address":"203.0.113.7"'),
    ]);
    // All addresses of one IPv6 /64 count as one client.
    for (let index = 1; index <= 10; index++) await guessFrom(behind, `2001:db8:1:2::${index}`);
    expect(await guessFrom(behind, '2001:db8:1:2:ffff::1')).toBe(429);
    expect(await guessFrom(behind, '2001:db8:1:3::1')).toBe(401);
  } finally {
    await behind.bridge.stop();
  }
}, 60_000);

test('X-Forwarded-For of an untrusted peer is ignored: the limit counts the address of the peer', async () => {
  const answers: number[] = [];
  for (let index = 0; index < 11; index++) answers.push(await guessFrom(rig, `203.0.113.${index}`));
  expect(answers.at(-1)).toBe(429);
});

test('without a token an unknown admin address answers the same status as a known one, and no answer has a CORS header', async () => {
  const known = await rig.raw('/admin/v1/approvals');
  const unknown = await rig.raw('/admin/v1/nowhere');
  expect(unknown.status).toBe(known.status);
  const asked = await rig.raw('/admin/v1/status', {
    headers: { authorization, origin: 'https://evil.example' },
  });
  expect(asked.status).toBe(200);
  const preflight = await rig.raw('/admin/v1/status', {
    method: 'OPTIONS',
    headers: { authorization, origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  });
  expect(preflight.status).toBe(405);
  for (const { headers } of [asked, preflight])
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  expect(asked.headers.get('cache-control')).toBe('no-store');
  expect(asked.headers.get('x-content-type-options')).toBe('nosniff');
  expect(asked.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('each refusal of the admin API is application/problem+json, and its detail names the fault or the allowed values', async () => {
  const { operator } = rig;
  const refused = [
    [await operator.get('/nowhere'), 404, 'openapi.json'],
    [await operator.post('/status', {}), 405, 'GET'],
    [await operator.post('/hold', { target: 'nowhere' }), 404, 'main'],
    [await operator.post('/hold', { tarjet: 'main' }), 400, '/body/tarjet'],
    [await operator.post('/hold', 7), 400, '/body'],
    [await operator.get('/approvals?all=perhaps'), 400, '/query/all'],
    [await operator.get('/approvals?every=true'), 400, '/query/every'],
    [await operator.post('/dead-letters/retry', {}), 400, '/body'],
    [await operator.post('/dead-letters/retry', { refs: ['User:none'] }), 404, 'dead-letters'],
    [await operator.get('/approvals/none.main.1-2'), 404, 'approvals'],
    [await operator.get('/operations/none'), 404, 'none'],
  ] as const;
  for (const [{ status, headers, body }, wanted, hint] of refused) {
    expect([status, body.status, headers['content-type']]).toEqual([
      wanted,
      wanted,
      'application/problem+json',
    ]);
    expect(body.detail).toContain(hint);
  }
  const broken = await rig.raw('/admin/v1/hold', { method: 'POST', headers: { authorization }, body: '{' });
  expect(broken.status).toBe(400);
  await expect(broken.json()).resolves.toMatchObject({
    title: 'Bad Request',
    detail: 'The body is not JSON.',
  });
});

test('the OpenAPI document of the admin API describes each operation, parameter and response', async () => {
  const { body: document } = await rig.operator.get('/openapi.json');
  expect(document.openapi).toMatch(/^3\.1/);
  const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, summary, parameters, responses } of operations) {
    expect(summary).toMatch(/\.$/);
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]: string[]) => name);
    expect(parameters.filter((each: any) => each.in === 'path').map((each: any) => each.name)).toEqual(named);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '429', '500', '503']));
  }
  const text = JSON.stringify(document);
  for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g))
    expect(Object.keys(document.components.schemas)).toContain(name);
});
