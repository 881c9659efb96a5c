// Tests the shutdown while Redis is unavailable: pending work is marked already.
import { buildBridge } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedisServer } from '../../support/redis-servers.ts';

const LIMIT_MS = 15_000;

test('the service stops within 15 s while Redis does not answer and a push is waiting', async () => {
  const server = await startRedisServer(['maxmemory-policy noeviction']);
  const bridge = await buildBridge({
    configure: (config) => (config.redis.url = `redis://127.0.0.1:${server.port}`),
  });
  await bridge.idp.createUser('before@acme.example');
  await eventually('there', async () => (await bridge.platform.user('before@acme.example'))?.active);
  server.pause();
  const push = bridge.idp.createUser('meanwhile@acme.example').catch(() => undefined);
  const began = Date.now();
  await bridge.stop();
  expect(Date.now() - began).toBeLessThan(LIMIT_MS);
  await push;
  server.resume();
  await server.stop();
}, 60_000);
