// Tests SIGTERM during a sync, and while syncs wait for the end of a pause.
import { startSandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess } from '../support/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView } from '../support/platform-view.ts';
import { settingsFor } from '../support/settings.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';

test('SIGTERM during a sync exits 0, and the next process finishes the sync', async () => {
  const sandbox = await startSandbox();
  const platform = createPlatformView(sandbox.ready.controlUrl);
  await platform.control('PATCH', '/faults', { latencyMs: 50 });
  const settings = {
    redis: { url: process.env.TEST_REDIS_URL, prefix: `stop-${Date.now()}` },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        rateLimit: { requestsPerSecond: 500, burst: 500 },
      },
    },
  };
  const first = await startBridgeProcess(settings);
  const idp = createIdp(first.baseUrl, TOKEN);
  await Promise.all(Array.from({ length: 40 }, (_, index) => idp.createUser(`s${index}@acme.example`)));
  expect(await first.terminate()).toBe(0);
  expect(first.output()).toContain('stopped');
  const second = await startBridgeProcess(settings);
  await eventually(
    'all 40 are active',
    async () =>
      (await platform.state()).users.filter(({ userName, active }) => /^s\d+@/.test(userName) && active)
        .length === 40,
    40_000,
  );
  expect(await second.terminate()).toBe(0);
  await first.stop();
  await second.stop();
  await sandbox.stop();
}, 90_000);

test('SIGTERM during a pause after 429 ends the process at once, and the next process writes the waiting changes', async () => {
  const sandbox = await startSandbox();
  const platform = createPlatformView(sandbox.ready.controlUrl);
  const settings = settingsFor(sandbox);
  const first = await startBridgeProcess(settings);
  await platform.control('PATCH', '/faults', { status429: { share: 1, retryAfter: 25 } });
  const idp = createIdp(first.baseUrl, TOKEN);
  await Promise.all(['w0', 'w1', 'w2'].map((name) => idp.createUser(`${name}@acme.example`)));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await platform.control('PATCH', '/faults', {});
  const startedAt = Date.now();
  expect(await first.terminate()).toBe(0);
  expect(Date.now() - startedAt).toBeLessThan(10_000);
  const second = await startBridgeProcess(settings);
  await eventually(
    'all three are there',
    async () => (await platform.state()).users.filter(({ userName }) => /^w\d@/.test(userName)).length === 3,
    40_000,
  );
  await second.stop();
  await first.stop();
  await sandbox.stop();
}, 90_000);
