// Tests kill -9 of the bridge at random moments with faults of the platform: no change is lost or applied twice.
import { startLocalRedis, type LocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { createEstate, createRandom, estateAttributes, prematureActivations } from '../support/estate.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView } from '../support/platform-view.ts';

const ALL = { count: 1_000_000, percent: 100 };
const GENEROUS = { deactivate: ALL, delete: ALL, removeMembers: ALL, clearAttributes: ALL };
const TOKEN = 'a-token-for-tests-only-0123456789';
const PEOPLE = Number(process.env.CHAOS_PEOPLE ?? 60);
const TEAMS = Number(process.env.CHAOS_TEAMS ?? 8);
const EVENTS = Number(process.env.CHAOS_EVENTS ?? 250);
const KILLS = Number(process.env.CHAOS_KILLS ?? 4);
const SEED = Number(process.env.CHAOS_SEED ?? 20261121);

let redis: LocalRedis;
let sandbox: Sandbox;
let bridge: BridgeProcess;

beforeAll(async () => {
  redis = await startLocalRedis({ env: {}, appendfsync: 'always' });
  sandbox = await startSandbox();
  bridge = await startBridgeProcess({
    redis: { url: redis.url, durability: 'always' },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        timeoutMs: 1000,
        rateLimit: { requestsPerSecond: 1000, burst: 200 },
        attributes: estateAttributes,
        // Half of this company comes and goes in a minute.
        guard: GENEROUS,
      },
    },
    logging: { level: 'info' },
  });
}, 60_000);

afterAll(async () => {
  await bridge.stop();
  await sandbox.stop();
  await redis.stop();
});

test('after kill -9 at random moments and every kind of platform fault, the platform equals the company', async () => {
  const platform = createPlatformView(sandbox.ready.controlUrl);
  const idp = createIdp(bridge.baseUrl, TOKEN);
  const random = createRandom(SEED);
  const estate = createEstate(idp, random);
  await platform.control('PATCH', '/faults', {
    latencyMs: 3,
    status429: { share: 0.02, retryAfter: 1 },
    status5xx: { share: 0.05 },
    timeoutAfterCommit: { share: 0.01 },
    dropBefore: { share: 0.02 },
    dropAfter: { share: 0.02 },
  });
  for (let index = 0; index < PEOPLE; index++) await estate.hire();
  for (let index = 0; index < TEAMS; index++) await estate.found();
  const killAt = new Set(
    Array.from({ length: KILLS }, (_, index) => Math.floor(((index + 0.5) * EVENTS) / KILLS)),
  );
  let restarting: Promise<void> = Promise.resolve();
  for (let index = 0; index < EVENTS; index++) {
    if (killAt.has(index)) {
      await restarting;
      restarting = bridge.killAndRestart(100);
    }
    await estate.live();
  }
  await restarting;
  await platform.control('PATCH', '/faults', {});
  let last: string[] = [];
  await eventually(
    'the platform equals the company',
    async () => {
      last = await estate.differences(platform);
      await new Promise((resolve) => setTimeout(resolve, 500));
      return last.length === 0;
    },
    120_000,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${last.join('\n')}\n${bridge.output().slice(-6000)}`);
  });
  expect(await prematureActivations(platform)).toEqual([]);
}, 240_000);
