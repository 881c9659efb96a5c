// Tests starts without Redis, platform or both: the bridge starts, reports the fault, and recovers.
import { startLocalRedis, freePort } from '../../src/demo/local-redis.ts';
import { createServer, type AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace } from '../support/situation.ts';

const ready = (port: number) => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status);

test('while Redis is unavailable pushes answer 503 with Retry-After, and every acknowledged change is written later', async () => {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-order-'));
  const bridge = await buildBridge({
    configure: (config) => (config.redis.url = `redis://127.0.0.1:${port}`),
  });
  const { idp, platform } = bridge;
  try {
    expect(await ready(bridge.app.port)).toBe(503);
    const refused = await idp.send('POST', '/Users', { userName: 'early@acme.example' });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['content-type']).toContain('application/scim+json');

    const first = await startLocalRedis({ env: {}, port, folder, appendfsync: 'always' });
    await eventually('ready', async () => (await ready(bridge.app.port)) === 200);
    await idp.createUser('early@acme.example');
    await eventually('applied', async () => (await platform.user('early@acme.example'))?.active);

    first.process?.kill('SIGKILL');
    await eventually('not ready', async () => (await ready(bridge.app.port)) === 503);
    expect((await idp.send('GET', '/Users')).status).toBe(503);
    const second = await startLocalRedis({ env: {}, port, folder, appendfsync: 'always' });
    await eventually('ready again', async () => (await ready(bridge.app.port)) === 200);
    expect((await idp.send('GET', '/Users')).body.totalResults).toBe(1);
    await idp.createUser('late@acme.example');
    await eventually('applied again', async () => (await platform.user('late@acme.example'))?.active, 30_000);
    await bridge.stop();
    await second.stop();
    await first.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

test('while the platform is unavailable the bridge stays ready and accepts pushes, and writes them when it is back', async () => {
  const bridge = await buildBridge();
  const { idp, platform } = bridge;
  await platform.control('PATCH', '/faults', { dropBefore: { share: 1 } });
  await idp.createUser('waiting@acme.example');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await ready(bridge.app.port)).toBe(200);
  expect(await platform.user('waiting@acme.example')).toBeUndefined();
  await platform.control('PATCH', '/faults', {});
  await eventually('applied', async () => (await platform.user('waiting@acme.example'))?.active, 20_000);
  await bridge.stop();
}, 60_000);

test('a worker whose port is taken ends with EADDRINUSE and writes nothing', async () => {
  const place = await openPlace({ roles: ['api'] });
  const taken = createServer().listen(0, '127.0.0.1');
  try {
    await place.idp.createUser('waiting@acme.example');
    const { port } = taken.address() as AddressInfo;
    const restart = place.change((settings) => Object.assign(settings.server, { port }));
    await expect(restart).rejects.toThrow('EADDRINUSE');
    await expect(place.platform.writes()).resolves.toEqual([]);
  } finally {
    taken.close();
    await place.stop();
  }
}, 60_000);
