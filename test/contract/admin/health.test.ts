// Tests the health endpoints: without a token they return only ok, with the admin token they return findings.
import { ADMIN_TOKEN, buildBridge, TOKEN } from '../../support/build-bridge.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const PROBES = ['/livez', '/readyz', '/health'];
let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdmin();
}, 60_000);
afterAll(() => rig.bridge.stop());

const ask = async (path: string, authorization?: string, from = rig) => {
  const answer = await from.raw(path, { headers: authorization === undefined ? {} : { authorization } });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
};

test.each(PROBES)('GET %s without a token returns only {ok: true}', async (path) => {
  const { status, body } = await ask(path);
  expect([status, body]).toEqual([200, { ok: true }]);
});

test('while the process stops, /readyz answers 503 to every client, and gives the reason only to a request with the admin token', async () => {
  const operator = `Bearer ${ADMIN_TOKEN}`;
  const own = await openAdmin();
  await own.operator.post('/hold', { target: 'main' });
  const held = await ask('/health', operator, own);
  expect(held.body.components['target main'].findings).toEqual([
    '1 exception (1 on hold): see scim-bridge exceptions',
    'on hold by order of an operator: scim-bridge release --target main ends it',
  ]);
  expect((await ask('/health', undefined, own)).body).toEqual({ ok: true });
  const draining = own.bridge.app.drain();
  expect(await ask('/readyz', undefined, own)).toMatchObject({ status: 503, body: { ok: false } });
  expect((await ask('/readyz', undefined, own)).body).toEqual({ ok: false });
  expect((await ask('/health', undefined, own)).body).toEqual({ ok: false });
  const stopping = { ok: false, findings: ['the process is stopping'] };
  expect(await ask('/readyz', operator, own)).toMatchObject({ status: 503, body: stopping });
  expect((await ask('/health', operator, own)).body).toMatchObject({
    ok: false,
    components: { store: stopping },
  });
  await draining;
  await own.bridge.stop();
}, 60_000);

test('health endpoints return the state of each component to a request with the admin token', async () => {
  const operator = `Bearer ${ADMIN_TOKEN}`;
  expect((await ask('/livez', operator)).body).toMatchObject({
    ok: true,
    lastFetchAgeMs: { main: expect.any(Number) },
  });
  expect((await ask('/readyz', operator)).body).toMatchObject({ ok: true, findings: [] });
  const { ok, components } = (await ask('/health', operator)).body;
  expect([ok, Object.keys(components)]).toEqual([true, ['process', 'store', 'data', 'fleet', 'target main']]);
  expect(components['target main']).toMatchObject({ dirty: 0, blocked: 0, held: 0 });
});

test('a wrong token at a health endpoint answers 401 and counts against the same limit as at the admin API', async () => {
  const own = await openAdmin();
  const paths = [...PROBES, '/admin/v1/status', ...PROBES, '/admin/v1/status', '/livez', '/readyz'];
  for (const [index, path] of paths.entries()) {
    const { status, headers, body } = await ask(
      path,
      index === 0 ? `Bearer ${TOKEN}` : `Bearer guess-${index}`,
      own,
    );
    expect([path, status, body.status]).toEqual([path, 401, 401]);
    expect(headers.get('www-authenticate')).toContain('Bearer');
    expect(headers.get('content-type')).toBe('application/problem+json');
  }
  for (const path of [...PROBES, '/admin/v1/status']) {
    const { status, headers } = await ask(path, 'Bearer one-more', own);
    expect([path, status]).toEqual([path, 429]);
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  // Health probes send no token, and the right token is never delayed.
  for (const path of PROBES) {
    expect((await ask(path, undefined, own)).status).toBe(200);
    expect((await ask(path, `Bearer ${ADMIN_TOKEN}`, own)).status).toBe(200);
  }
  await own.bridge.stop();
}, 60_000);

test('without an admin token in the settings, health endpoints return only {ok: true}, whatever token is sent', async () => {
  const bridge = await buildBridge({ configure: ({ server }) => (server.adminToken = null) });
  for (const authorization of [undefined, 'Bearer ', 'Bearer null', `Bearer ${ADMIN_TOKEN}`]) {
    for (const path of PROBES) {
      const answer = await fetch(`http://127.0.0.1:${bridge.app.port}${path}`, {
        headers: authorization === undefined ? {} : { authorization },
      });
      expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
    }
  }
  await bridge.stop();
}, 60_000);
