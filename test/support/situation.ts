// Opens a bridge in which a test causes a situation, and asks every reading command and the alerts about it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startApp, type App, type Role } from '../../src/app.ts';
import { openDesiredStates } from '../../src/app/open.ts';
import { readSettings } from '../../src/cli/cli.ts';
import { startLocalRedis, type LocalRedis } from '../../src/demo/local-redis.ts';
import { tendLogs } from '../../src/ops/doctor/check-logs.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { silentLogger } from '../../src/support/logger.ts';
import { randomIds, systemClock, type Clock } from '../../src/support/sources.ts';
import { eventually } from './eventually.ts';
import { firingAlerts } from './alerts-now.ts';
import { TOKEN } from './build-bridge.ts';
import { createCommands, type Answer, type Commands } from './command.ts';
import { untilIdle } from './idle.ts';
import { createIdp, type Idp } from './idp.ts';
import { createPlatformView, type PlatformView } from './platform-view.ts';
import { scrape, type Scrape } from './scrape.ts';
import { settingsFor, type TestSettings } from './settings.ts';

export interface Place {
  sandbox: Sandbox;
  settings: TestSettings;
  commands: Commands;
  platform: PlatformView;
  idp: Idp;
  /** TCP port of the first instance. */
  port: number;
  redis: Redis;
  /** Starts one more instance of the bridge in the test process. */
  start(role?: Role, version?: string, clock?: Clock): Promise<App>;
  /** Stops the instances. */
  stopApps(): Promise<void>;
  /** Restarts with changed settings. */
  change(edit: (settings: TestSettings) => void): Promise<void>;
  /** The Redis server of this bridge alone; undefined when it uses the shared one. */
  server: LocalRedis | undefined;
  /** Checks the hash chains as the scheduler does every hour. */
  checkLogs(): Promise<void>;
  idle(): Promise<void>;
  /** Returns the full name of the only Redis key with this ending. */
  key(end: string): Promise<string>;
  stop(): Promise<void>;
}

export interface PlaceOptions {
  target?: object;
  rest?: Partial<TestSettings>;
  roles?: Role[];
  /** Runs before the first instance. */
  before?: (platform: PlatformView) => Promise<unknown>;
  /** Starts a Redis server for this bridge alone. */
  ownRedis?: boolean;
}

/** The environment of the tests does not count: REDIS_URL would name the shared server, and others would be settings. */
const NO_VARIABLES = {};

export async function openPlace(options: PlaceOptions): Promise<Place> {
  const { target, rest, roles = ['all'], before, ownRedis = false } = options;
  const sandbox = await startSandbox();
  const settings = settingsFor(sandbox, target, rest);
  const server = ownRedis ? await startLocalRedis({ env: NO_VARIABLES }) : undefined;
  if (server) settings.redis.url = server.url;
  const { url, prefix } = settings.redis;
  const listening = { ...settings.server, port: 0, host: '127.0.0.1' };
  const commands = createCommands({ ...settings, server: listening });
  const platform = createPlatformView(sandbox.ready.controlUrl);
  await before?.(platform);
  // null: does not connect again, because a situation may stop the server.
  const redis = new Redis(url, { retryStrategy: () => null });
  redis.on('error', () => undefined);
  const apps: App[] = [];
  const file = join(commands.folder, 'bridge.json');
  const read = () => readSettings({ env: NO_VARIABLES, cwd: commands.folder, file });
  const start = async (role: Role = 'all', version?: string, clock = systemClock): Promise<App> => {
    const identity = version === undefined ? {} : { identity: { version, host: `pod-${role}` } };
    const deps = {
      logger: silentLogger,
      clock,
      ids: randomIds,
      random: Math.random,
      ...identity,
    };
    const app = await startApp(read(), role, deps);
    apps.push(app);
    return app;
  };
  const stopApps = async (): Promise<void> => {
    await Promise.all(apps.splice(0).map((app) => app.stop()));
  };
  for (const role of roles) await start(role);
  const [first] = apps;
  if (first)
    await eventually('the first instance is ready', async () => {
      const answer = await fetch(`http://127.0.0.1:${first.port}/readyz`);
      return answer.status === 200;
    });
  const place: Place = {
    sandbox,
    settings,
    commands,
    platform,
    redis,
    start,
    stopApps,
    server,
    get idp() {
      return createIdp(`http://127.0.0.1:${apps[0]?.port ?? 0}/scim/v2`, TOKEN);
    },
    get port() {
      return apps[0]?.port ?? 0;
    },
    change: async (edit) => {
      await stopApps();
      const changed = JSON.parse(readFileSync(file, 'utf8')) as TestSettings;
      edit(changed);
      writeFileSync(file, JSON.stringify(changed));
      await start();
    },
    idle: () => untilIdle({ url, prefix }),
    checkLogs: async () => {
      const opened = openDesiredStates(read());
      try {
        await opened.reach();
        for (const state of opened.states) await tendLogs(state, Date.now());
      } finally {
        opened.redis.disconnect();
      }
    },
    key: async (end) => {
      const keys = (await redis.keys(`${prefix}:*`)).filter((key) => key.endsWith(end));
      if (keys.length !== 1) throw new Error(`${keys.length} keys end with ${end}: ${keys.join()}`);
      return keys[0] ?? '';
    },
    stop: async () => {
      redis.disconnect();
      commands.remove();
      await stopApps();
      await sandbox.stop();
      await server?.stop();
    },
  };
  return place;
}

/** Waits until the service has looked at the data in Redis (`dataSeen` of keys.ts), as it does every five seconds. */
export async function untilLookedAt(place: Place): Promise<void> {
  const start = Date.now();
  await eventually('the service has looked at the data', async () => {
    const seen = await place.redis.get(await place.key(':dataSeen'));
    return Number(seen) > start;
  });
}

/** A client connects anew within this time. */
const RECONNECT_MS = 10_000;

export interface Answers {
  status: Answer;
  plan: Answer;
  explain: Answer;
  doctor: Answer;
  alerts: string[];
}

/**
 * Runs the reading commands at the same time, because some of them wait for a server that does not answer.
 * @param person the person to explain
 */
export async function ask({ commands, port }: Place, person: string): Promise<Answers> {
  const [status, plan, explain, doctor] = await Promise.all([
    commands.run('status'),
    commands.run('plan'),
    commands.run('explain', person, '--all'),
    commands.run('doctor'),
  ]);
  return { status, plan, explain, doctor, alerts: firingAlerts(await settledScrape(port)) };
}

/**
 * Scrapes again while Redis counts as down, for at most RECONNECT_MS: the bridge may just be connecting again, and the alert fires
 * only if Redis is down for minutes.
 */
async function settledScrape(port: number): Promise<Scrape> {
  const endsAt = Date.now() + RECONNECT_MS;
  for (;;) {
    const now = await scrape(port);
    if (now.find('bridge_redis_up')[0]?.value !== 0 || Date.now() > endsAt) return now;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
