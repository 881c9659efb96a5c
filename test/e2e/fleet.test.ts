// Tests that status, doctor, explain, /health and metrics report running and missing processes of the fleet.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, startLocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { packageVersion } from '../../src/support/version.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { scrape } from '../support/scrape.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';
const ADMIN = 'an-admin-token-for-tests-0123456789';
const prefix = `test-${randomUUID()}`;

let sandbox: Sandbox;
let commands: Commands;
let settings: object;
const started: BridgeProcess[] = [];

async function start(role: string, env: Record<string, string> = {}): Promise<BridgeProcess> {
  const bridge = await startBridgeProcess(settings, role, { POD_NAME: `pod-${role}`, ...env });
  started.push(bridge);
  return bridge;
}

beforeAll(async () => {
  sandbox = await startSandbox();
  settings = {
    server: { adminToken: ADMIN },
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
      },
    },
    reconcile: { schedule: '0 3 * * *' },
  };
  commands = createCommands(settings);
}, 60_000);
afterAll(async () => {
  for (const each of started) await each.stop();
  commands.remove();
  await sandbox.stop();
});

const fleet = async () => {
  const { code, json } = await commands.run('status', '--json');
  return { code, ...json[0].fleet } as {
    code: number;
    processes: { role: string; host: string; version: string; silent: boolean }[];
    findings: { finding: string; message: string }[];
  };
};
const findings = async () => (await fleet()).findings.map(({ finding }) => finding);
const health = async ({ port }: BridgeProcess): Promise<any> =>
  (await fetch(`http://127.0.0.1:${port}/health`, { headers: { authorization: `Bearer ${ADMIN}` } })).json();
const metric = async ({ port }: BridgeProcess, finding: string) =>
  (await scrape(port)).value('bridge_fleet_findings', { finding });

test('before the first start, status reports no process, and doctor only warns', async () => {
  const { code, text } = await commands.run('status');
  expect([code, text]).toEqual([2, expect.stringContaining('fleet: no process')]);
  expect(text).toContain(
    'no process of the bridge has run with this Redis and prefix yet: nobody takes pushes, no worker',
  );
  const doctor = await commands.run('doctor');
  expect([doctor.code, doctor.text]).toEqual([
    0,
    expect.stringContaining('! fleet: no process of the bridge has run'),
  ]);
});

test('status, doctor and metrics show the role of each process, and which are stopped, killed or outdated', async () => {
  const api = await start('api');
  const worker = await start('worker');
  await start('scheduler');
  const all = await fleet();
  expect([all.code, all.findings]).toEqual([0, []]);
  expect(all.processes).toMatchObject([
    { role: 'api', host: 'pod-api', silent: false },
    { role: 'scheduler', host: 'pod-scheduler', silent: false },
    { role: 'worker', host: 'pod-worker', silent: false },
  ]);
  const version = String(all.processes[0]?.version);
  expect(version).toBe(packageVersion());
  const { text } = await commands.run('status');
  expect(text).toContain('fleet: 3 processes');
  expect(text).toMatch(/ {2}worker pod-worker \(process \d+\), version \S+, started \S+, last beat \d s ago/);
  const doctor = await commands.run('doctor');
  expect([doctor.code, doctor.text]).toEqual([
    0,
    expect.stringContaining('✔ fleet: scheduler pod-scheduler'),
  ]);
  const healthy = await health(api);
  expect(healthy).toMatchObject({ ok: true, components: { fleet: { ok: true, findings: [] } } });
  expect(healthy.components.fleet.processes).toHaveLength(3);
  expect((await scrape(api.port)).value('bridge_processes', { role: 'worker', version })).toBe(1);
  expect(await metric(api, 'noWorker')).toBe(0);
  const page = (path: string) =>
    fetch(`http://127.0.0.1:${api.port}/admin/v1${path}`, { headers: { authorization: `Bearer ${ADMIN}` } });
  const [row] = (await (await page('/status')).json()) as { fleet: { processes: unknown[] } }[];
  expect(row?.fleet.processes).toHaveLength(3);
  expect(await (await page('/doctor')).text()).toContain('worker pod-worker');

  // A clean stop is reported at once.
  expect(await worker.terminate()).toBe(0);
  const stopped = await fleet();
  expect(stopped).toMatchObject({ code: 2, findings: [{ finding: 'noWorker' }] });
  expect(stopped.processes.map(({ role }) => role)).toEqual(['api', 'scheduler']);
  expect(stopped.findings[0]?.message).toMatch(
    /^no worker has run since \S+ \(the last was pod-worker, version/,
  );
  expect(await commands.run('doctor')).toMatchObject({ code: 1 });
  const sick = await health(api);
  expect(sick).toMatchObject({ ok: false, components: { fleet: { ok: false } } });
  expect(sick.components.fleet.findings[0]).toContain('no worker has run since');
  await eventually('the metric tells it', async () => (await metric(api, 'noWorker')) === 1, 10_000);

  // The explanation of a pending change names the missing worker.
  const idp = createIdp(api.baseUrl, TOKEN);
  await idp.createUser('waits@acme.example');
  const explained = await commands.run('explain', 'waits@acme.example', '--json');
  expect(explained.json[0]).toMatchObject({
    verdict: 'stopped',
    summary: 'A change of waits@acme.example waits because no worker runs: start one.',
    reasons: expect.arrayContaining([expect.stringContaining('No worker has run since')]),
  });

  // A killed worker is first reported as silent; then a new worker replaces it.
  const second = await start('worker');
  expect(await findings()).toEqual([]);
  await eventually('the change is applied', async () => {
    const [found] = (await commands.run('explain', 'waits@acme.example', '--json')).json;
    return found.verdict === 'asDesired';
  });
  await second.stop();
  await eventually(
    'the worker is silent',
    async () => (await findings()).join() === 'noWorker,silent',
    40_000,
  );
  const told = await commands.run('status');
  expect(told.text).toMatch(/worker pod-worker \(process \d+\), version \S+, started \S+, silent for \d+ s/);
  expect(told.text).toContain('it was killed, hangs, or does not reach Redis');

  // Processes of two builds are a finding when they run together for long.
  await start('worker', { SCIM_BRIDGE_REVISION: 'abc123' });
  const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  const since = `${prefix}:{bridge.fleet}:versionsDifferSince`;
  expect(await redis.exists(since)).toBe(1);
  expect(await findings()).not.toContain('versionsDiffer');
  await redis.set(since, String(Date.now() - 16 * 60_000));
  redis.disconnect();
  expect(await findings()).toContain('versionsDiffer');
  expect((await commands.run('doctor')).text).toContain(`${version} (revision abc123) (worker pod-worker)`);
  await eventually('the metric tells it', async () => (await metric(api, 'versionsDiffer')) === 1, 10_000);
}, 240_000);

test('while Redis is unavailable a process logs no failed beats, and it is listed again at once afterwards', async () => {
  const place = { folder: mkdtempSync(join(tmpdir(), 'scim-bridge-fleet-')), port: await freePort() };
  let redis = await startLocalRedis({ env: {}, ...place });
  const own = { ...settings, redis: { url: redis.url, prefix } };
  const bridge = await startBridgeProcess(own);
  started.push(bridge);
  const reader = createCommands(own);
  try {
    expect(await reader.run('status', '--json')).toMatchObject({ code: 0 });
    await redis.stop();
    await eventually('Redis is away', async () => !(await health(bridge)).ok);
    await new Promise((resolve) => setTimeout(resolve, 7000));
    redis = await startLocalRedis({ env: {}, ...place });
    await eventually('ready', async () => (await health(bridge)).components.store.ok);
    await eventually(
      'listed again',
      async () => (await reader.run('status', '--json')).json?.[0].fleet.findings.length === 0,
      5000,
    );
    expect(bridge.output()).not.toMatch(/beat|fleet/);
  } finally {
    await bridge.stop();
    await redis.stop();
    reader.remove();
    rmSync(place.folder, { recursive: true, force: true });
  }
}, 90_000);
