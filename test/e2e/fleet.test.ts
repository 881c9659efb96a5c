// Tests that status, doctor, explain, /health and metrics report running and missing processes of the fleet.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, startLocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { packageVersion } from '../../src/support/version.ts';
import '../support/load-modules.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { ADMIN_TOKEN, TOKEN } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { createScenario } from '../support/scenario.ts';
import { scrape } from '../support/scrape.ts';
import { settingsFor, type TestSettings } from '../support/settings.ts';

interface Context {
  settings: TestSettings;
  commands: Commands;
  /** Starts a process that ends with the context. */
  start: (role: string, env?: Record<string, string>) => Promise<BridgeProcess>;
  stop: () => Promise<void>;
}

/** @param redisUrl the shared server if undefined */
async function openContext(redisUrl?: string): Promise<Context> {
  const sandbox = await startSandbox();
  const settings = settingsFor(sandbox, {}, { reconcile: { schedule: '0 3 * * *' } });
  if (redisUrl !== undefined) settings.redis.url = redisUrl;
  const commands = createCommands(settings);
  const started: BridgeProcess[] = [];
  return {
    settings,
    commands,
    start: async (role, env = {}) => {
      const bridge = await startBridgeProcess(settings, role, { POD_NAME: `pod-${role}`, ...env });
      started.push(bridge);
      return bridge;
    },
    stop: async () => {
      await Promise.all(started.map((each) => each.stop()));
      commands.remove();
      await sandbox.stop();
    },
  };
}

/** A Redis server that a test stops and starts again, and a bridge that uses it. */
async function openOwnRedis() {
  const place = { folder: mkdtempSync(join(tmpdir(), 'scim-bridge-fleet-')), port: await freePort() };
  const redis = await startLocalRedis({ env: {}, ...place });
  return { place, redis, ...(await openContext(redis.url)) };
}
type OwnRedis = Awaited<ReturnType<typeof openOwnRedis>>;

const test = createScenario(
  () => openContext(),
  ({ stop }) => stop(),
);
const testOfRedis = createScenario(openOwnRedis, async ({ place, redis, stop }: OwnRedis) => {
  await stop();
  await redis.stop();
  rmSync(place.folder, { recursive: true, force: true });
});

const fleet = async (commands: Commands) => {
  const { code, json } = await commands.run('status', '--json');
  return { code, ...json[0].fleet } as {
    code: number;
    processes: { role: string; host: string; version: string; silent: boolean }[];
    findings: { finding: string; message: string }[];
  };
};
const findings = async (commands: Commands) => (await fleet(commands)).findings.map(({ finding }) => finding);
const health = async ({ port }: BridgeProcess): Promise<any> =>
  (
    await fetch(`http://127.0.0.1:${port}/health`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  ).json();
const metric = async ({ port }: BridgeProcess, finding: string) =>
  (await scrape(port)).value('bridge_fleet_findings', { finding });

test('before the first start, status reports no process, and doctor only warns', async ({ commands }) => {
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

test('status, doctor and metrics show the role of each process, and which processes are stopped, killed or of another version', async ({
  settings,
  commands,
  start,
}) => {
  const api = await start('api');
  const worker = await start('worker');
  await start('scheduler');
  const all = await fleet(commands);
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
    fetch(`http://127.0.0.1:${api.port}/admin/v1${path}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
  const [row] = (await (await page('/status')).json()) as { fleet: { processes: unknown[] } }[];
  expect(row?.fleet.processes).toHaveLength(3);
  expect(await (await page('/doctor')).text()).toContain('worker pod-worker');

  // A clean stop is reported at once.
  expect(await worker.terminate()).toBe(0);
  const stopped = await fleet(commands);
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
  expect(await findings(commands)).toEqual([]);
  await eventually('the change is applied', async () => {
    const [found] = (await commands.run('explain', 'waits@acme.example', '--json')).json;
    return found.verdict === 'asDesired';
  });
  await second.stop();
  await eventually(
    'the worker is silent',
    async () => (await findings(commands)).join() === 'noWorker,silent',
    40_000,
  );
  const told = await commands.run('status');
  expect(told.text).toMatch(/worker pod-worker \(process \d+\), version \S+, started \S+, silent for \d+ s/);
  expect(told.text).toContain('it was killed, hangs, or does not reach Redis');

  // Processes of two builds are a finding when they run together for long.
  await start('worker', { SCIM_BRIDGE_REVISION: 'abc123' });
  const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  const since = `${settings.redis.prefix}:{bridge.fleet}:versionsDifferSince`;
  expect(await redis.exists(since)).toBe(1);
  expect(await findings(commands)).not.toContain('versionsDiffer');
  await redis.set(since, String(Date.now() - 16 * 60_000));
  redis.disconnect();
  expect(await findings(commands)).toContain('versionsDiffer');
  expect((await commands.run('doctor')).text).toContain(`${version} (revision abc123) (worker pod-worker)`);
  await eventually('the metric tells it', async () => (await metric(api, 'versionsDiffer')) === 1, 10_000);
}, 240_000);

testOfRedis(
  'Redis is unavailable for a while → a process logs no failed heartbeats, and is listed again as soon as Redis is back',
  async (context) => {
    const { place, commands, start } = context;
    const bridge = await start('all');
    expect(await commands.run('status', '--json')).toMatchObject({ code: 0 });
    await context.redis.stop();
    await eventually('Redis is away', async () => !(await health(bridge)).ok);
    // Several beats fail in this time.
    await new Promise((resolve) => setTimeout(resolve, 7000));
    context.redis = await startLocalRedis({ env: {}, ...place });
    await eventually('ready', async () => (await health(bridge)).components.store.ok);
    await eventually(
      'listed again',
      async () => (await commands.run('status', '--json')).json?.[0].fleet.findings.length === 0,
      5000,
    );
    expect(bridge.output()).not.toMatch(/beat|fleet/);
  },
  90_000,
);
