// Tests the breaker of two worker processes: failures in one suspend the calls of both.
import {
  createServer,
  request as ask,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView } from '../support/platform-view.ts';
import { scrape } from '../support/scrape.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';

/** More users than are pushed while the second process gets no answers. */
const MANY = 64;

/** A proxy between one process and the platform. */
interface Front {
  url: string;
  /** Number of calls that arrived. */
  calls: number;
  /** `holds`: accepts calls without answering; the held calls are answered in the next state. */
  state: 'open' | 'fails' | 'holds';
  /** Forwards held calls. */
  letGo(): void;
  stop(): Promise<void>;
}

async function openFront(platformUrl: string): Promise<Front> {
  const held: (() => void)[] = [];
  const pass = (call: IncomingMessage, answer: ServerResponse): void => {
    if (front.state === 'fails') {
      call.resume();
      answer.writeHead(503).end();
      return;
    }
    const onward = ask(
      new URL(call.url ?? '', platformUrl),
      { method: call.method, headers: { ...call.headers, host: new URL(platformUrl).host } },
      (theirs) => {
        answer.writeHead(theirs.statusCode ?? 500, theirs.headers);
        theirs.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    call.pipe(onward);
  };
  const server: Server = createServer((call, answer) => {
    front.calls++;
    if (front.state === 'holds') held.push(() => pass(call, answer));
    else pass(call, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: 0,
    state: 'open',
    letGo: () => held.splice(0).forEach((go) => go()),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return front;
}

let sandbox: Sandbox;
const fronts: Front[] = [];
const processes: BridgeProcess[] = [];
beforeAll(async () => {
  sandbox = await startSandbox();
  const { platformUrl, fixtures } = sandbox.ready;
  fronts.push(await openFront(platformUrl), await openFront(platformUrl));
  const prefix = `breaker-${Date.now()}`;
  const settings = (url: string, concurrency: number): object => ({
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url,
        token: fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        concurrency,
        timeoutMs: 60_000,
        rateLimit: { requestsPerSecond: 500, burst: 500 },
      },
    },
    reconcile: { schedule: null },
  });
  // The second process may have more calls under way than are pushed, so a missing call is not caused by its
  // concurrency.
  const [first, second] = [settings(fronts[0]?.url ?? '', 4), settings(fronts[1]?.url ?? '', MANY)];
  processes.push(await startBridgeProcess(first));
  processes.push(await startBridgeProcess(second, 'worker'));
}, 100_000);
afterAll(async () => {
  await Promise.all(processes.map((each) => each.stop()));
  await Promise.all(fronts.map((each) => each.stop()));
  await sandbox.stop();
});

const callsOf = (): number[] => fronts.map(({ calls }) => calls);

test('one process opens the breaker → another process stops its calls too, and both resume after the outage', async () => {
  const [failing, other] = fronts as [Front, Front];
  const platform = createPlatformView(sandbox.ready.controlUrl);
  const idp = createIdp(processes[0]?.baseUrl ?? '', TOKEN);
  const names: string[] = [];
  const push = async (): Promise<void> => {
    names.push(`breaker${names.length}@acme.example`);
    await idp.createUser(names.at(-1) ?? '');
  };
  /** Waits until each process has called again. */
  const untilBothCall = async (): Promise<void> => {
    const [before = 0, beforeOther = 0] = callsOf();
    await eventually(
      'both call',
      async () => {
        await push();
        return failing.calls > before && other.calls > beforeOther;
      },
      30_000,
    );
  };
  const openAt = (): Promise<number[]> =>
    Promise.all(
      processes.map(async ({ port }) =>
        (await scrape(port)).value('bridge_breaker_open', { target: 'main' }),
      ),
    );
  await untilBothCall();

  // The second process gets no answers from now on, so only the first one can open the breaker.
  const before = names.length;
  other.state = 'holds';
  failing.state = 'fails';
  await eventually(
    'both know that it is open',
    async () => {
      await push();
      await new Promise((resolve) => setTimeout(resolve, 100));
      return !(await openAt()).includes(0);
    },
    30_000,
  );
  const stoppedAt = Date.now();
  const stopped = callsOf();
  for (let index = 0; index < 10; index++) await push();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  // Only probes are sent, at most one in a second from all processes together.
  const probes = Math.ceil((Date.now() - stoppedAt) / 1000) + 1;
  expect(names.length - before).toBeLessThan(MANY);
  const sent = callsOf().reduce((sum, calls, index) => sum + calls - (stopped[index] ?? 0), 0);
  expect(sent).toBeLessThanOrEqual(probes);
  expect(await openAt()).toEqual([1, 1]);

  failing.state = other.state = 'open';
  other.letGo();
  await untilBothCall();
  await eventually(
    'everybody is there',
    async () => {
      const { users } = await platform.state();
      const active = new Set(users.filter((user) => user.active).map(({ userName }) => userName));
      return names.every((name) => active.has(name));
    },
    60_000,
  );
  await eventually('both know that it is over', async () => !(await openAt()).includes(1), 10_000);
}, 180_000);
