// npm run soak: pushes, lists, reconcile, platform faults and abuse for ten minutes; then memory is flat, nothing is lost
// and nothing is doubled. SOAK_MINUTES=2 is shorter; SOAK_KILLS=3 also kills the process so often (its memory starts
// anew, so the slope counts from the last kill on); SOAK_SEED repeats the same company.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalRedis, type LocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { createChance } from '../fuzz/chance.ts';
import { createWireAttacks } from '../fuzz/wire-attacks.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { createCompany, createRandom, companyAttributes } from '../support/company.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { imageEnvironment } from '../support/image-environment.ts';
import { createPlatformView } from '../support/platform-view.ts';
import { slopeOf, type MemorySample } from './memory-line.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const KILLS = Number(process.env.SOAK_KILLS ?? 0);
const SEED = Number(process.env.SOAK_SEED ?? 20261123);
const PEOPLE = 300;
const TEAMS = 20;
/** Time after which caches and the heap have reached their size. */
const WARM_UP_MINUTES = Math.min(3, MINUTES / 3);
/** In a shorter run the heap still grows, so the slope is printed and not checked. */
const SHORTEST_JUDGED_MINUTES = 6;
/** Over ten minutes this is less than one garbage collection frees; a leak of 1 kB a request is ten times as much. */
const MOST_MB_PER_MINUTE = 5;
const MOST_MB = 512;
const ADMIN_TOKEN = 'token-of-the-operators-0123456789';
const ALL = { count: 1_000_000, percent: 100 };
const FAULTS = {
  latencyMs: 3,
  status429: { share: 0.02, retryAfter: 1 },
  status5xx: { share: 0.03 },
  timeoutAfterCommit: { share: 0.005 },
  dropBefore: { share: 0.02 },
  dropAfter: { share: 0.02 },
};

let redis: LocalRedis;
let sandbox: Sandbox;
let bridge: BridgeProcess;

beforeAll(async () => {
  redis = await startLocalRedis({ env: {}, appendfsync: 'always' });
  sandbox = await startSandbox();
  const settings = {
    server: { adminToken: ADMIN_TOKEN },
    redis: { url: redis.url, durability: 'always' },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        timeoutMs: 1000,
        rateLimit: { requestsPerSecond: 1000, burst: 200 },
        attributes: companyAttributes,
        guard: { deactivate: ALL, delete: ALL, removeMembers: ALL, clearAttributes: ALL },
      },
    },
    reconcile: { schedule: null },
    logging: { level: 'warn' },
  };
  bridge = await startBridgeProcess(settings, 'all', imageEnvironment());
}, 60_000);

afterAll(async () => {
  await bridge.stop();
  await sandbox.stop();
  await redis.stop();
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Resident memory of the bridge in MB; NaN where the system does not tell. */
function residentMb(): number {
  try {
    const status = readFileSync(`/proc/${bridge.pid()}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  } catch {
    return NaN;
  }
}

test(
  `after ${MINUTES} minutes of pushes, attacks and platform faults no user or group is lost or duplicated, and memory stays within its limits`,
  async () => {
    const platform = createPlatformView(sandbox.ready.controlUrl);
    const idp = createIdp(bridge.baseUrl, TOKEN);
    const company = createCompany(idp, createRandom(SEED));
    const counts = { events: 0, lists: 0, attacks: 0, reconciles: 0, kills: 0 };
    const wrong: string[] = [];
    for (let index = 0; index < PEOPLE; index++) await company.hire();
    for (let index = 0; index < TEAMS; index++) await company.createTeam();

    const startedAt = Date.now();
    const minute = (): number => (Date.now() - startedAt) / 60_000;
    const isOver = (): boolean => minute() >= MINUTES;
    let samples: MemorySample[] = [];
    let peakMb = 0;
    let warmFrom = WARM_UP_MINUTES;
    let isRestarting = false;

    /** Repeats one kind of load until the end; failures while the process is killed are ignored. */
    async function keep(
      kind: 'events' | 'lists' | 'attacks' | 'reconciles',
      pauseMs: number,
      work: () => Promise<void>,
    ) {
      while (!isOver()) {
        const wasRestarting = isRestarting;
        await work().then(
          () => counts[kind]++,
          (error: Error) => {
            if (!wasRestarting && !isRestarting) wrong.push(`${kind}: ${error.message}`);
          },
        );
        await sleep(pauseMs);
      }
    }
    const lists = async (): Promise<void> => {
      for (const query of [
        'count=200',
        'sortBy=title&count=100',
        `filter=${encodeURIComponent('title co "x"')}`,
      ]) {
        const { status } = await idp.send('GET', `/Users?${query}`);
        if (status !== 200 && status !== 503) wrong.push(`list ${query}: ${status}`);
      }
    };
    const attack = createWireAttacks(createChance(SEED), bridge.baseUrl);
    const reconcile = async (): Promise<void> => {
      const answer = await fetch(`http://127.0.0.1:${bridge.port}/admin/v1/reconcile`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      await answer.text();
      if (answer.status >= 500 && answer.status !== 503) wrong.push(`reconcile: ${answer.status}`);
    };
    const faults = async (): Promise<void> => {
      for (let on = true; !isOver(); on = !on) {
        await platform.control('PATCH', '/faults', on ? FAULTS : {});
        await sleep(15_000);
      }
    };
    const watch = async (): Promise<void> => {
      for (let count = 0; !isOver(); count++) {
        const mb = residentMb();
        if (minute() >= warmFrom && !isRestarting) samples.push({ minute: minute(), mb });
        peakMb = Math.max(peakMb, mb);
        if (count % 20 === 0)
          say(`soak: minute ${minute().toFixed(1)}, ${mb.toFixed(0)} MB, ${JSON.stringify(counts)}`);
        await sleep(500);
      }
    };
    const kill = async (): Promise<void> => {
      for (; counts.kills < KILLS; counts.kills++) {
        await sleep((MINUTES * 60_000) / 2 / KILLS);
        isRestarting = true;
        await bridge.killAndRestart(100);
        isRestarting = false;
        samples = [];
        warmFrom = minute() + WARM_UP_MINUTES;
      }
    };
    await Promise.all([
      keep('events', 20, () => company.live()),
      keep('lists', 200, lists),
      keep('attacks', 500, async () => void wrong.push(...(await attack()))),
      keep('reconciles', 20_000, reconcile),
      ...[faults(), watch(), kill()],
    ]);

    await platform.control('PATCH', '/faults', {});
    let differences: string[] = [];
    await eventually(
      'the platform equals the company',
      async () => (differences = await company.differences(platform)).length === 0,
      180_000,
    ).catch(() => undefined);
    const slope = slopeOf(samples);
    say(`soak: ${MINUTES} min, seed ${SEED}: ${JSON.stringify(counts)}, ${company.people.length} people`);
    say(
      `soak: memory ${slope.toFixed(2)} MB a minute over ${samples.length} samples, peak ${peakMb.toFixed(0)} MB`,
    );
    say(`soak: ${differences.length} lost or doubled, ${wrong.length} wrong answers`);
    expect({ differences, wrong: wrong.slice(0, 10) }).toEqual({ differences: [], wrong: [] });
    if (Number.isNaN(peakMb)) return;
    expect(peakMb).toBeLessThanOrEqual(MOST_MB);
    if (MINUTES >= SHORTEST_JUDGED_MINUTES) expect(slope).toBeLessThan(MOST_MB_PER_MINUTE);
  },
  MINUTES * 60_000 + 400_000,
);
