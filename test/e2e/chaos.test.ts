// Tests kill -9 of the bridge at random moments with faults of the platform: no change is lost or applied twice.
import { startLocalRedis, type LocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { CHAOS_TOKEN, chaosSettings, derivedFaults, untilEqual } from '../support/chaos.ts';
import { createCompany, createRandom, prematureActivations } from '../support/company.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView } from '../support/platform-view.ts';

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
  bridge = await startBridgeProcess(chaosSettings(redis.url, sandbox.ready));
}, 60_000);

afterAll(async () => {
  await bridge.stop();
  await sandbox.stop();
  await redis.stop();
});

test('the bridge is killed at random moments while the platform delays, fails and loses answers → in the end the platform equals all pushed changes', async () => {
  const platform = createPlatformView(sandbox.ready.controlUrl);
  const idp = createIdp(bridge.baseUrl, CHAOS_TOKEN);
  const random = createRandom(SEED);
  const company = createCompany(idp, random);
  await platform.control('PATCH', '/faults', {
    latencyMs: 3,
    status429: { share: 0.02, retryAfter: 1 },
    status5xx: { share: 0.05 },
    timeoutAfterCommit: { share: 0.01 },
    dropBefore: { share: 0.02 },
    dropAfter: { share: 0.02 },
  });
  for (let index = 0; index < PEOPLE; index++) await company.hire();
  for (let index = 0; index < TEAMS; index++) await company.createTeam();
  const killAt = new Set(
    Array.from({ length: KILLS }, (_, index) => Math.floor(((index + 0.5) * EVENTS) / KILLS)),
  );
  let restarting: Promise<void> = Promise.resolve();
  for (let index = 0; index < EVENTS; index++) {
    if (killAt.has(index)) {
      await restarting;
      restarting = bridge.killAndRestart(100);
    }
    await company.live();
  }
  await restarting;
  await platform.control('PATCH', '/faults', {});
  await untilEqual(company, platform, () => bridge.output());
  expect(await prematureActivations(platform)).toEqual([]);
  await expect(derivedFaults(chaosSettings(redis.url, sandbox.ready))).resolves.toEqual([]);
}, 240_000);
