// Tests how soon another worker continues the syncs of a killed worker, and how soon syncs resume after an outage.
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { randomUUID } from 'node:crypto';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { CHAOS_TOKEN, chaosSettings } from '../support/chaos.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';

/** The promise is 5 s at p95; the test machine runs other tests at the same time. */
const SOON_MS = 8000;

let sandbox: Sandbox;
let platform: PlatformView;
const processes: BridgeProcess[] = [];
beforeAll(async () => {
  sandbox = await startSandbox();
  platform = createPlatformView(sandbox.ready.controlUrl);
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.stop()));
  await sandbox.stop();
});

async function start(settings: object, role: string): Promise<BridgeProcess> {
  const started = await startBridgeProcess(settings, role);
  processes.push(started);
  return started;
}

const active = (userName: string) => async () => (await platform.user(userName))?.active === true;

test('a worker is killed during a sync → another worker continues it, and syncs resume soon after an outage', async () => {
  const { redis, ...rest } = chaosSettings(process.env.TEST_REDIS_URL ?? '', sandbox.ready);
  const settings = { ...rest, redis: { url: redis.url, prefix: `test-${randomUUID()}` } };
  const api = await start(settings, 'api');
  const first = await start(settings, 'worker');
  const idp = createIdp(api.baseUrl, CHAOS_TOKEN);
  await platform.control('PATCH', '/faults', {
    rules: [{ method: 'POST', path: '/Users$', timeoutBeforeCommit: { holdMs: 60_000 } }],
  });
  await idp.createUser('kim@acme.example');
  await eventually('the create is under way', async () =>
    (await platform.requests()).some(({ method, path }) => method === 'POST' && path.endsWith('/Users')),
  );
  await start(settings, 'worker');
  process.kill(first.pid() ?? 0, 'SIGKILL');
  await platform.control('PATCH', '/faults', { rules: [] });
  await eventually('the account is active', active('kim@acme.example'), SOON_MS);

  await platform.control('PATCH', '/faults', { status5xx: { share: 1 } });
  await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => idp.createUser(`${name}@acme.example`)));
  await eventually('the breaker is open', () =>
    processes.some((each) => each.output().includes('only probes')),
  );
  await platform.control('PATCH', '/faults', { status5xx: 0 });
  await eventually(
    'all accounts are active',
    async () => {
      const { users } = await platform.state();
      return users.filter((user) => /^[a-f]@/.test(user.userName) && user.active).length === 6;
    },
    SOON_MS,
  );
}, 60_000);
