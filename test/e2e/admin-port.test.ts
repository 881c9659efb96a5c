// Tests which addresses are served when the admin API has a port of its own.
import { ADMIN_TOKEN, buildBridge, type Bridge } from '../support/build-bridge.ts';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      config.server.adminPort = 0;
      config.server.adminToken = ADMIN_TOKEN;
      config.reconcile.schedule = null;
    },
  });
});
afterAll(() => bridge.stop());

const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
const statusAt = async (port: number, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}${path}`, { headers, redirect: 'manual' })).status;

const INNER = [
  '/livez',
  '/readyz',
  '/health',
  '/metrics',
  '/admin/',
  '/admin/v1/status',
  '/admin/v1/openapi.json',
];

test.each(INNER)('with server.adminPort the address %s is served on that port only', async (path) => {
  expect(await statusAt(bridge.app.adminPort, path)).toBe(200);
  expect(await statusAt(bridge.app.port, path)).toBe(404);
});

test('with server.adminPort SCIM is served on server.port only', async () => {
  await bridge.idp.createUser('inner@acme.example');
  expect(await statusAt(bridge.app.port, '/scim/v2/Users')).toBe(401);
  expect(await statusAt(bridge.app.adminPort, '/scim/v2/Users')).toBe(404);
});
