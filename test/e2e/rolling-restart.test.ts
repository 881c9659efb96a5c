// Three api and three worker processes on one Redis with a replica: all are replaced, one is killed, and the primary dies,
// while identity providers push.
import { request } from 'undici';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { startSentinelSet, type SentinelSet } from '../support/redis-servers.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';
/** Pushes per second, and how many processes there are of each role. */
const RATE = Number(process.env.ROLLING_RATE ?? 25);
const REPLICAS = Number(process.env.ROLLING_REPLICAS ?? 3);
const LIMIT = { requestsPerSecond: 400, burst: 50 };
/** How often the load balancer looks who is ready; far less than server.drainMs. */
const LOOK_MS = 300;

let set: SentinelSet;
let sandbox: Sandbox;
let platform: PlatformView;
let settings: object;
let apis: BridgeProcess[];
let workers: BridgeProcess[];

beforeAll(async () => {
  set = await startSentinelSet(1);
  sandbox = await startSandbox();
  platform = createPlatformView(sandbox.ready.controlUrl);
  settings = {
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
  const some = (role: string) =>
    Promise.all(Array.from({ length: REPLICAS }, () => startBridgeProcess(settings, role)));
  [apis, workers] = [await some('api'), await some('worker')];
}, 90_000);
afterAll(async () => {
  await Promise.all([...apis, ...workers].map((each) => each.stop()));
  await sandbox.stop();
  await set.stop();
});

/** What stands in front of the bridge: sends to whoever was ready when it last looked, to each in turn. */
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
    // When nobody is ready, all are asked: their answer is the 503.
    ready = found.flat().length > 0 ? found.flat() : ready;
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  return {
    next: (): BridgeProcess => ready[turn++ % ready.length] as BridgeProcess,
    stop: () => clearInterval(timer),
  };
}

function startPushing(balancer: { next(): BridgeProcess }) {
  const stored: string[] = [];
  const failures: string[] = [];
  let refused = 0;
  const running = new Set<Promise<void>>();
  async function create(userName: string): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const answer = await request(`${balancer.next().baseUrl}/Users`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' },
        body: JSON.stringify({ userName, externalId: userName, active: true }),
      }).catch((error: Error) => void failures.push(error.message));
      if (!answer) return;
      await answer.body.dump();
      // 409: an attempt whose answer was a refusal had been stored.
      if (answer.statusCode === 201 || (attempt > 0 && answer.statusCode === 409))
        return void stored.push(userName);
      if (answer.statusCode !== 503 || !/^\d+$/.test(String(answer.headers['retry-after'])))
        failures.push(`${answer.statusCode} for ${userName}`);
      refused++;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    failures.push(`${userName} was never taken`);
  }
  let count = 0;
  const timer = setInterval(() => {
    const work = create(`roll${count++}@acme.example`).finally(() => running.delete(work));
    running.add(work);
  }, 1000 / RATE);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all([...running]);
      return { stored, failures, refused };
    },
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

test('nothing is refused but by 503 with Retry-After, nothing is lost, nothing is done twice, and the lag is gone in a minute', async () => {
  const balancer = startBalancer();
  const pushing = startPushing(balancer);
  await Promise.all([replace(apis, 'api'), replace(workers, 'worker')]);
  const untilRestarted = await platform.requests();
  await workers[0]?.killAndRestart();
  const primary = await set.primary();
  await primary.kill();
  await eventually('another primary', async () => (await set.primary()).port !== primary.port, 20_000);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const { stored, failures } = await pushing.stop();
  const stoppedAt = Date.now();
  balancer.stop();
  expect(failures).toEqual([]);
  expect(stored.length).toBeGreaterThan(RATE * 5);
  await eventually(
    'everybody is active',
    async () => {
      const active = new Set(
        (await platform.state()).users.filter((user) => user.active).map((user) => user.userName),
      );
      const missing = stored.filter((name) => !active.has(name));
      if (missing.length > 0) throw new Error(`${missing.length} are missing, such as ${missing[0]}`);
      return true;
    },
    60_000 - (Date.now() - stoppedAt),
  );
  const creations = (await platform.writes()).filter(
    ({ method, path, status }) => method === 'POST' && path.endsWith('/Users') && status < 300,
  );
  expect(creations.length).toBe(new Set(creations.map(({ body }) => body.userName)).size);
  // Six processes share one budget.
  const times = untilRestarted.map(({ atMs }) => atMs).sort((a, b) => a - b);
  const busiest = Math.max(
    ...times.map((at, index) => times.filter((t, i) => i >= index && t < at + 1000).length),
  );
  expect(busiest).toBeLessThanOrEqual(LIMIT.requestsPerSecond + LIMIT.burst);
}, 180_000);
