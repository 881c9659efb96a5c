// Tests kill -9 of replicas of every role and of Redis at random moments, with faults of the platform: no change is lost or
// applied twice.
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startLocalRedis, type LocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { CHAOS_TOKEN, chaosSettings, derivedFaults, untilEqual } from '../support/chaos.ts';
import { createCommands } from '../support/command.ts';
import { createCompany, createRandom, prematureActivations } from '../support/company.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { untilIdle } from '../support/idle.ts';
import { createPlatformView } from '../support/platform-view.ts';

const PEOPLE = Number(process.env.CHAOS_PEOPLE ?? 25);
const TEAMS = Number(process.env.CHAOS_TEAMS ?? 4);
const EVENTS = Number(process.env.CHAOS_EVENTS ?? 100);
const SEED = Number(process.env.CHAOS_SEED ?? 20261123);
const ROLES = ['api', 'api', 'worker', 'worker', 'scheduler'];
/** Number of kills of Redis and of each role; every seed has all of them. */
const REDIS_KILLS = 2;
/** Longest time between the start of an event and a kill, so that a kill meets a push at any step. */
const WITHIN_MS = 20;
const PAUSE_MS = 300;

let folder: string;
let redis: LocalRedis;
let sandbox: Sandbox;
let settings: ReturnType<typeof chaosSettings>;
let replicas: BridgeProcess[] = [];

const startRedis = (port: number): Promise<LocalRedis> =>
  startLocalRedis({ env: {}, appendfsync: 'always', folder, port });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'scim-bridge-redis-'));
  [redis, sandbox] = await Promise.all([startRedis(await freePort()), startSandbox()]);
  const chaos = chaosSettings(redis.url, sandbox.ready);
  // The scheduler reconciles during the pushes.
  settings = { ...chaos, reconcile: { schedule: '*/3 * * * * *' } } as typeof settings;
  replicas = await Promise.all(ROLES.map((role) => startBridgeProcess(settings, role)));
}, 60_000);

afterAll(async () => {
  await Promise.all(replicas.map((each) => each.stop()));
  await sandbox.stop();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function killAndRestartRedis(pauseMs: number): Promise<void> {
  const { process: server, url } = redis;
  const ended = server && once(server, 'exit');
  server?.kill('SIGKILL');
  await ended;
  await redis.stop();
  await sleep(pauseMs);
  redis = await startRedis(Number(new URL(url).port));
}

/** An identity provider behind a load balancer: each attempt goes to the next api process. */
function balancedIdp(): Idp {
  const idps = replicas
    .filter((_, index) => ROLES[index] === 'api')
    .map(({ baseUrl }) => createIdp(baseUrl, CHAOS_TOKEN));
  let turn = 0;
  const next = (): Idp => idps[turn++ % idps.length] as Idp;
  return {
    ...next(),
    send: (...request) => next().send(...request),
  };
}

/** Kills by the number of the event during which they happen. */
function killsBySeed(random: () => number): Map<number, (() => Promise<void>)[]> {
  const below = (limit: number): number => Math.floor(random() * limit);
  const victims = [
    ...Array.from({ length: REDIS_KILLS }, () => killAndRestartRedis),
    ...replicas.map((each) => (pauseMs: number) => each.killAndRestart(pauseMs)),
  ];
  const kills = new Map<number, (() => Promise<void>)[]>();
  let inTurn = Promise.resolve();
  for (const kill of victims) {
    const [event, delayMs, pauseMs] = [below(EVENTS), below(WITHIN_MS), below(PAUSE_MS)];
    const isRedis = kill === killAndRestartRedis;
    const run = async (): Promise<void> => {
      await sleep(delayMs);
      // Redis is one process, so its second kill comes after its first restart.
      if (isRedis) await (inTurn = inTurn.then(() => kill(pauseMs)));
      else await kill(pauseMs);
    };
    kills.set(event, [...(kills.get(event) ?? []), run]);
  }
  return kills;
}

test('bridge processes and Redis are killed with -9 at random moments → in the end the platform equals the acknowledged state and no mark is left', async () => {
  const platform = createPlatformView(sandbox.ready.controlUrl);
  const company = createCompany(balancedIdp(), createRandom(SEED));
  const kills = killsBySeed(createRandom(~SEED));
  await platform.control('PATCH', '/faults', {
    seed: SEED,
    latencyMs: 3,
    status429: { share: 0.05, retryAfter: 1 },
    status5xx: { share: 0.1 },
    timeoutAfterCommit: { share: 0.01 },
    dropBefore: { share: 0.02 },
    dropAfter: { share: 0.03 },
  });
  for (let index = 0; index < PEOPLE; index++) await company.hire();
  for (let index = 0; index < TEAMS; index++) await company.createTeam();
  const restarting: Promise<void>[] = [];
  for (let index = 0; index < EVENTS; index++) {
    for (const kill of kills.get(index) ?? []) restarting.push(kill());
    await company.live();
  }
  await Promise.all(restarting);
  await platform.control('PATCH', '/faults', {});
  const output = (): string => replicas.map((each) => each.output().slice(-3000)).join('\n');
  await untilEqual(company, platform, output);
  expect(await prematureActivations(platform)).toEqual([]);

  await untilIdle({ url: redis.url, prefix: 'scim-bridge' });
  const commands = createCommands(settings);
  const status = await commands.run('status', '--json');
  const plan = await commands.run('plan');
  commands.remove();
  await expect(derivedFaults(settings)).resolves.toEqual([]);
  expect(status.json).toMatchObject([{ dirty: 0, blocked: 0, coverage: { users: { missing: 0 } } }]);
  // The bridge's records, links and marks agree with the platform: a reconcile finds no difference.
  expect({ status: status.code, plan: plan.code, text: plan.text }).toMatchObject({ status: 0, plan: 0 });
}, 240_000);
