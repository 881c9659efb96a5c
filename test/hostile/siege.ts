// Starts a bridge process with users, a platform and neighbour clients, and judges an attack by their latency and by memory.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalRedis } from '../../src/demo/local-redis.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { imageEnvironment } from '../support/image-environment.ts';
import type { Tally } from './attacks.ts';
import { startBystanders, type Bystanders, type BystanderReport } from './bystanders.ts';

export const TOKENS = {
  scim: 'scim-token-of-the-attacker-0123456789',
  neighbour: 'scim-token-of-the-neighbour-0123456789',
  receiver: 'read-only-token-of-a-receiver-0123456789',
  admin: 'token-of-the-operators-0123456789',
} as const;

/** HOSTILE_PEOPLE=50000 npm test -- test/hostile runs with 50,000 users. */
export const PEOPLE = Number(process.env.HOSTILE_PEOPLE ?? 5000);
const NEIGHBOUR_P99_MS = 250;
const PROBE_MS = 1000;
/**
 * Other tests run at the same time, so the allowed times grow with the load. HOSTILE_STRICT=1 uses the promised
 * times, for a machine that runs nothing else.
 */
const slowness = (): number =>
  process.env.HOSTILE_STRICT ? 1 : Math.max(8, (3 * (loadavg()[0] ?? 0)) / availableParallelism());
const MEMORY_MB = 512;
/** Share of the neighbour's requests that must be answered and not refused. */
const SERVED = 0.9;
/** The measurement continues after the last answer of an attack, until its effects are over. */
const AFTERMATH_MS = 500;

export interface Siege {
  bridge: BridgeProcess;
  sandbox: Sandbox;
  /** Runs an attack and fails unless the neighbour was served as usual during it. */
  withstand<T extends Tally | void>(name: string, attack: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export interface SiegeOptions {
  /** Users preloaded for the attacker's connection, without marks, so that nothing is synced for them. */
  people?: number;
  /** Address of the attacker's platform, in place of the sandbox. */
  platformUrl?: string;
  /** Merged into the settings of the attacker's target. */
  target?: object;
}

export async function startSiege({ people = 0, platformUrl, target }: SiegeOptions = {}): Promise<Siege> {
  const redis = await startLocalRedis({ env: {} });
  const sandbox = await startSandbox();
  const prefix = `siege-${randomUUID()}`;
  if (people > 0) await preload(redis.url, prefix, people);
  const platform = {
    url: sandbox.ready.platformUrl,
    token: sandbox.ready.fixtures.apiKeys.admin,
    allowLoopbackHttp: true,
    rateLimit: { requestsPerSecond: 1000, burst: 1000 },
  };
  const settings = {
    server: { adminToken: TOKENS.admin },
    redis: { url: redis.url, prefix },
    connections: {
      default: {
        tokens: [{ name: 'attacker', secret: TOKENS.scim }],
        targets: ['main'],
        events: {
          issuer: 'https://scim.example.com',
          audience: 'https://siem.example.com',
          key: signingKey(),
          poll: { token: TOKENS.receiver },
        },
      },
      neighbour: { tokens: [{ name: 'neighbour', secret: TOKENS.neighbour }], targets: ['other'] },
    },
    targets: { main: { ...platform, ...(platformUrl && { url: platformUrl }), ...target }, other: platform },
    reconcile: { schedule: null },
    logging: { level: 'warn' },
  };
  const bridge = await startBridgeProcess(settings, 'all', imageEnvironment());
  const watch = (): Promise<Bystanders> =>
    startBystanders({
      port: bridge.port,
      pid: bridge.pid() ?? 0,
      token: TOKENS.neighbour,
      path: '/connections/neighbour/scim/v2',
    });
  let bystanders = await watch();
  /** After a failed test a new process is started for the next one. */
  const revive = async (): Promise<void> => {
    if (bridge.pid() !== undefined) return;
    await bystanders.stop();
    await bridge.killAndRestart();
    bystanders = await watch();
  };
  return {
    bridge,
    sandbox,
    withstand: async (name, attack) => {
      await revive();
      const pid = bridge.pid();
      const { result, report } = await bystanders.during(async () => {
        const answered = await attack();
        await sleep(AFTERMATH_MS);
        return answered;
      });
      const process = bridge.pid() === pid ? 'the same' : `ended: ${bridge.output().slice(-2000)}`;
      judge(name, process, report, result ?? undefined);
      return result;
    },
    stop: async () => {
      await bystanders.stop();
      await bridge.stop();
      await sandbox.stop();
      await redis.stop();
    },
  };
}

function judge(name: string, process: string, report: BystanderReport, tally: Tally | undefined): void {
  note(inWords(name, report, tally));
  const { neighbour, probes, memory } = report;
  const answers = tally?.faults ?? [];
  const factor = slowness();
  expect({ process, faults: report.faults, answers }).toEqual({
    process: 'the same',
    faults: [],
    answers: [],
  });
  expect(neighbour.answered / (neighbour.answered + neighbour.refused)).toBeGreaterThan(SERVED);
  expect(neighbour.p99).toBeLessThan(NEIGHBOUR_P99_MS * factor);
  expect(probes.max).toBeLessThan(PROBE_MS * factor);
  if (!Number.isNaN(memory.peakMb)) expect(memory.peakMb).toBeLessThanOrEqual(MEMORY_MB);
}

const note = (line: string): void => void process.stderr.write(`${line}\n`);

/** Writes users with the bridge's own code, because over HTTP 50,000 users take minutes. */
async function preload(url: string, prefix: string, people: number): Promise<void> {
  const root = join(import.meta.dirname, '../..');
  const file = join(root, 'bench/preload.mjs');
  const members = String(Math.min(people, 10_000));
  const args = [file, join(root, 'dist/main.js'), url, prefix, String(people), members];
  const [code] = (await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')) as [number];
  if (code !== 0) throw new Error(`preload ended with ${code}`);
}

const signingKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

function inWords(
  name: string,
  { neighbour, probes, memory }: BystanderReport,
  tally: Tally | undefined,
): string {
  const ms = (value: number): string => (Number.isFinite(value) ? value.toFixed(0) : '-');
  const { answered, refused, p50, p99, max } = neighbour;
  return [
    `hostile: ${name}:`,
    `neighbour p50 ${ms(p50)} p99 ${ms(p99)} max ${ms(max)} ms (${answered} served, ${refused} refused),`,
    `probes max ${ms(probes.max)} ms, memory peak ${memory.peakMb} MB`,
    ...(tally ? [`; attacker ${JSON.stringify(tally.statuses)}, ${tally.closed} closed`] : []),
  ].join(' ');
}
