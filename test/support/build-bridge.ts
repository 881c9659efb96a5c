// Builds a bridge in the test process with real Redis, real HTTP and the sandbox as platform.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp, type App, type Role } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server.ts';
import { randomIds, systemClock } from '../../src/support/sources.ts';
import { createLogger } from '../../src/support/logger.ts';
import { untilIdle } from './idle.ts';
import { createIdp, type Idp } from './idp.ts';
import { createPlatformView, type PlatformView } from './platform-view.ts';

export const TOKEN = 'a-token-for-tests-only-0123456789';
export const ADMIN_TOKEN = 'an-admin-token-of-tests-0123456789';

export interface Bridge {
  config: Config;
  sandbox: Sandbox;
  app: App;
  idp: Idp;
  platform: PlatformView;
  /** All log lines since the start. */
  logs: string[];
  /** Starts another bridge on the same Redis. */
  another(role?: Role): Promise<App>;
  /** Stops the bridge, runs `work`, and starts the bridge again at the same port. */
  whileStopped<T>(work: () => Promise<T>): Promise<T>;
  /** Waits until no mark is due, queued or being synced (idle.ts). */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export interface BridgeOptions {
  sandbox?: SandboxOptions;
  role?: Role;
  /** Changes the effective settings before the start. */
  configure?(config: Config): void;
}

export async function buildBridge(options: BridgeOptions = {}): Promise<Bridge> {
  const sandbox = await startSandbox(options.sandbox);
  const { platformUrl, fixtures } = sandbox.ready;
  const config = loadConfig({
    // A folder without a settings file: the variables are all settings.
    cwd: '/nonexistent',
    env: {
      PLATFORM_URL: platformUrl,
      PLATFORM_TOKEN: fixtures.apiKeys.admin ?? '',
      PLATFORM_ALLOW_LOOPBACK_HTTP: '1',
      SCIM_TOKEN: TOKEN,
      ADMIN_TOKEN,
      REDIS_URL: process.env.TEST_REDIS_URL ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
    },
  });
  config.redis.prefix = `test-${randomUUID()}`;
  // Tests start reconcile runs themselves.
  config.reconcile.schedule = null;
  const target = config.targets.main;
  if (target) target.rateLimit = { requestsPerSecond: 2000, burst: 2000 };
  options.configure?.(config);
  const logs: string[] = [];
  const logger = createLogger('debug', { write: (line) => void logs.push(line) });
  const start = (role: Role): Promise<App> =>
    startApp(config, role, { logger, clock: systemClock, ids: randomIds, random: Math.random });
  let app = await start(options.role ?? 'all');
  await untilReady(app.port);
  const others: App[] = [];
  return {
    config,
    sandbox,
    get app() {
      return app;
    },
    idp: createIdp(`http://127.0.0.1:${app.port}/scim/v2`, TOKEN),
    platform: createPlatformView(sandbox.ready.controlUrl),
    logs,
    idle: () => untilIdle({ url: process.env.TEST_REDIS_URL ?? '', prefix: config.redis.prefix }),
    whileStopped: async (work) => {
      await app.stop();
      try {
        return await work();
      } finally {
        config.server.port = app.port;
        app = await start(options.role ?? 'all');
        await untilReady(app.port);
      }
    },
    another: async (role = 'all') => {
      const other = await start(role);
      others.push(other);
      return other;
    },
    stop: async () => {
      await Promise.all([app, ...others].map((each) => each.stop()));
      await sandbox.stop();
    },
  };
}

const READY_LIMIT_MS = 5000;

/** Waits until pushes no longer get 503. If Redis stays unavailable, returns after the limit without an error. */
async function untilReady(port: number): Promise<void> {
  const limit = Date.now() + READY_LIMIT_MS;
  while (Date.now() < limit) {
    const { status } = await fetch(`http://127.0.0.1:${port}/readyz`);
    if (status !== 503) return;
    await sleep(20);
  }
}
