// Tests that status shows the progress of a first load: done, rate, time left and bound, over all processes and until it ends.
import { randomUUID } from 'node:crypto';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { scrape } from '../support/scrape.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';
const ADMIN = 'an-admin-token-for-tests-0123456789';

let sandbox: Sandbox;
let commands: Commands;
let bridge: BridgeProcess;

async function start(target: object): Promise<void> {
  sandbox = await startSandbox();
  const settings = {
    server: { adminToken: ADMIN },
    redis: { url: process.env.TEST_REDIS_URL, prefix: `test-${randomUUID()}` },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        ...target,
      },
    },
    reconcile: { schedule: null },
  };
  commands = createCommands(settings);
  bridge = await startBridgeProcess(settings);
}
afterEach(async () => {
  await bridge.stop();
  commands.remove();
  await sandbox.stop();
});

async function push(count: number): Promise<void> {
  const idp = createIdp(bridge.baseUrl, TOKEN);
  for (let from = 0; from < count; from += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, count - from) }, (_each, index) =>
        idp.createUser(`person${from + index}@acme.example`),
      ),
    );
}
const faults = (body: object): Promise<Response> =>
  fetch(`${sandbox.ready.controlUrl}/faults`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const row = async () => (await commands.run('status', '--json')).json[0];
const load = async () => (await row()).load;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('during a load of 1,500 users status estimates the time left within a factor of two, and names the rate limit as the bound', async () => {
  await start({ rateLimit: { requestsPerSecond: 60, burst: 10 } });
  expect(await load()).toBeNull();
  expect((await scrape(bridge.port)).find('bridge_load_total')).toEqual([]);
  await push(1500);
  await eventually('the rate is known', async () => (await load())?.secondsLeft > 0, 30_000);
  const told: { endsAt: number; at: number; total: number; bound: string }[] = [];
  let metric: number | undefined;
  let text = '';
  for (let found = await row(); found.load !== null; found = await row()) {
    const { load: progress, dirty } = found;
    expect(progress.done + dirty).toBe(progress.total);
    if (progress.secondsLeft > 10 && progress.done > 150)
      told.push({ ...progress, at: Date.now(), endsAt: Date.now() + progress.secondsLeft * 1000 });
    if (told.length === 2 && metric === undefined) {
      text = (await commands.run('status')).text;
      metric = (await scrape(bridge.port)).value('bridge_load_total', { target: 'main' });
      const answer = await fetch(`http://127.0.0.1:${bridge.port}/admin/v1/status`, {
        headers: { authorization: `Bearer ${ADMIN}` },
      });
      expect(((await answer.json()) as { load: unknown }[])[0]?.load).toMatchObject({ bound: 'rateLimit' });
    }
    await pause(1500);
  }
  const endedAt = Date.now();
  expect(told.length).toBeGreaterThan(3);
  for (const { at, endsAt, total, bound } of told) {
    const share = (endsAt - at) / (endedAt - at);
    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThan(2);
    expect([bound, total > 1200 && total <= 1500]).toEqual(['rateLimit', true]);
  }
  expect(text).toMatch(
    /loading since \S+: \d+ of \d+ done, [\d.]+ a second, about \d+ s left; the rate limit/,
  );
  expect(metric).toBe(told[0]?.total);
  await eventually('all are applied', async () => (await row()).dirty === 0);
  expect((await commands.run('status')).text).not.toContain('loading');
  expect((await scrape(bridge.port)).find('bridge_load_total')).toEqual([]);
}, 240_000);

test('status names latency as the bound at a slow platform and the breaker at a failing one, and a killed worker loses no count', async () => {
  await start({
    rateLimit: { requestsPerSecond: 1000, burst: 1000 },
    concurrency: 4,
    minConcurrency: 4,
    maxConcurrency: 4,
  });
  await faults({ latencyMs: [300, 300] });
  await push(400);
  await eventually('latency bounds it', async () => (await load())?.bound === 'latency', 30_000);
  await eventually('some are done', async () => (await load()).done > 10, 30_000);
  const before = await load();
  await bridge.killAndRestart();
  const after = await load();
  expect(after.done).toBeGreaterThanOrEqual(before.done);
  expect(after.since).toBe(before.since);
  await eventually('it goes on', async () => (await load()).done > after.done + 5, 40_000);

  await faults({ status5xx: { share: 1 } });
  const broken = await eventually(
    'the breaker bounds it',
    async () => {
      const found = await load();
      return found?.bound === 'breaker' && found;
    },
    30_000,
  );
  expect(broken.secondsLeft).toBeNull();
  expect((await commands.run('status')).text).toContain('the platform fails, so only probes are sent');

  await faults({});
  expect((await commands.run('hold')).code).toBe(0);
  expect(await load()).toMatchObject({ bound: 'hold', secondsLeft: null });
  expect((await commands.run('release')).code).toBe(0);
  await eventually('the load has ended', async () => (await load()) === null, 90_000);
}, 240_000);
