// Tests a rolling restart of api and worker processes, with kill -9 and a Redis failover, during pushes.
import { request } from 'undici';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { refusedWrongly, startPushLoad } from '../support/push-load.ts';
import { startSentinelSet, type SentinelSet } from '../support/redis-servers.ts';
import { scrape } from '../support/scrape.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';
/** Pushes per second, and number of processes of each role. */
const RATE = Number(process.env.ROLLING_RATE ?? 25);
const REPLICAS = Number(process.env.ROLLING_REPLICAS ?? 3);
const LIMIT = { requestsPerSecond: 400, burst: 50 };
/** Interval of the load balancer's readiness checks, and how long a stopping process waits for them. */
const LOOK_MS = 300;
const DRAIN_MS = 2500;
/** The promise to operators: the lag is below this value again within this time after the disturbance. */
const LAG_SECONDS = 5;
const BACK_MS = 60_000;

let set: SentinelSet | undefined;
let sandbox: Sandbox | undefined;
let platform: PlatformView;
let settings: object;
const apis: BridgeProcess[] = [];
const workers: BridgeProcess[] = [];

beforeAll(async () => {
  [set, sandbox] = await Promise.all([startSentinelSet(1), startSandbox()]);
  platform = createPlatformView(sandbox.ready.controlUrl);
  settings = {
    server: { drainMs: DRAIN_MS },
    redis: { url: set.url },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        rateLimit: LIMIT,
      },
    },
  };
  const start = async (processes: BridgeProcess[], role: string): Promise<void> => {
    processes.push(await startBridgeProcess(settings, role));
  };
  for (let index = 0; index < REPLICAS; index++)
    await Promise.all([start(apis, 'api'), start(workers, 'worker')]);
}, 120_000);
afterAll(async () => {
  await Promise.all([...apis, ...workers].map((each) => each.stop()));
  await sandbox?.stop();
  await set?.stop();
});

/** The load balancer in front of the bridge: sends to each replica in turn that was ready at the last check. */
function startBalancer() {
  let ready: BridgeProcess[] = [...apis];
  let turn = 0;
  const look = async (): Promise<void> => {
    const found = await Promise.all(
      apis.map(async (api) => {
        try {
          const { statusCode, body } = await request(`http://127.0.0.1:${api.port}/readyz`);
          await body.dump();
          return statusCode === 200 ? [api] : [];
        } catch {
          return [];
        }
      }),
    );
    // If no replica is ready, requests go to all of them, whose answer is 503.
    ready = found.flat().length > 0 ? found.flat() : ready;
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  return {
    next: (): string => (ready[turn++ % ready.length] as BridgeProcess).baseUrl,
    stop: () => clearInterval(timer),
  };
}

async function replace(processes: BridgeProcess[], role: string): Promise<void> {
  for (const former of [...processes]) {
    const next = await startBridgeProcess(settings, role);
    processes.push(next);
    expect(await former.terminate()).toBe(0);
    processes.splice(processes.indexOf(former), 1);
    await former.stop();
  }
}

/** Runs the pushes while `disturb` runs. */
const lagIsBack = (what: string): Promise<unknown> =>
  eventually(
    `the oldest change waits less than ${LAG_SECONDS} s after ${what}`,
    async () => {
      const seconds = (await scrape(apis[0]?.port ?? 0)).value('bridge_outbox_oldest_seconds', {
        target: 'main',
      });
      if (seconds >= LAG_SECONDS) throw new Error(`${seconds} s`);
      return true;
    },
    BACK_MS,
  );

test('during a rolling restart pushes get no refusal but 503 with Retry-After, and every push is applied exactly once', async () => {
  const balancer = startBalancer();
  const load = startPushLoad({ prefix: 'roll', token: TOKEN, perSecond: RATE, next: balancer.next });
  await Promise.all([replace(apis, 'api'), replace(workers, 'worker')]);
  expect(load.broken).toEqual([]);
  await lagIsBack('all were replaced');
  const untilReplaced = await platform.requests();

  // Kills a process while it handles pushes: each of ten clients always has one request open.
  const [victim] = apis;
  await load.pressOn(victim?.baseUrl ?? '', 10, 50);
  await Promise.all([victim?.killAndRestart(), workers[0]?.killAndRestart()]);
  expect(load.broken.length).toBeGreaterThanOrEqual(10);
  await lagIsBack('one of each was killed');
  const broken = load.broken.length;

  const primary = await set?.primary();
  await primary?.kill();
  await eventually('another primary', async () => (await set?.primary())?.port !== primary?.port, 20_000);
  await lagIsBack('the primary was lost');
  await load.stop();
  balancer.stop();
  expect(load.broken.length).toBe(broken);
  expect(refusedWrongly(load)).toEqual([]);
  expect(load.stored.length).toBeGreaterThan(RATE * 5);
  await eventually(
    'everybody is active',
    async () => {
      const active = new Set(
        (await platform.state()).users.filter((user) => user.active).map((user) => user.userName),
      );
      const missing = load.stored.filter((name) => !active.has(name));
      if (missing.length > 0) throw new Error(`${missing.length} are missing, such as ${missing[0]}`);
      return true;
    },
    BACK_MS,
  );
  const creations = (await platform.writes()).filter(
    ({ method, path, status }) => method === 'POST' && path.endsWith('/Users') && status < 300,
  );
  expect(creations.length).toBe(new Set(creations.map(({ body }) => body.userName)).size);
  // Six processes share one request budget.
  const times = untilReplaced.map(({ atMs }) => atMs).sort((a, b) => a - b);
  const busiest = Math.max(
    ...times.map((at, index) => times.filter((t, i) => i >= index && t < at + 1000).length),
  );
  expect(busiest).toBeLessThanOrEqual(LIMIT.requestsPerSecond + LIMIT.burst);
}, 240_000);
