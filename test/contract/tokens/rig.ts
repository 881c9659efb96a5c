// Starts api replicas from one settings file, and runs commands of an operator.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { startApp, type App } from '../../../src/app.ts';
import { runCli } from '../../../src/cli/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { randomIds, systemClock } from '../../../src/support/sources.ts';
import { createLogger } from '../../../src/support/logger.ts';
import { createClient, type Client } from '../scim-conformance/client.ts';

export const SETTINGS_TOKEN = 'token-of-the-settings-0123456789';

export interface Rig {
  /** Folder for files of the test, removed at the end. */
  folder: string;
  prefix: string;
  /** All log lines since the start. */
  logs: string[];
  start(): Promise<App>;
  command(...args: string[]): Promise<{ code: number; out: string; err: string }>;
  /** Runs `token create NAME --json` with further options. @returns the secret */
  create(name: string, ...more: string[]): Promise<string>;
  stop(): Promise<void>;
}

export const asClient = (app: App, token: string, connection?: string): Client =>
  createClient(app.port, connection ? `/connections/${connection}/scim/v2` : '/scim/v2', token);

export const statusOf = async (app: App, token: string, connection?: string): Promise<number> =>
  (await asClient(app, token, connection).get('/Users')).status;

/** @param settings returns the settings once the folder exists; `redis` is the rig's Redis unless given */
export function createRig(settings: (folder: string) => object = () => ({})): Rig {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  const file = join(folder, 'bridge.json');
  const prefix = `test-${randomUUID()}`;
  const document = {
    server: { port: 0, host: '127.0.0.1' },
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: SETTINGS_TOKEN }] } },
    targets: { main: { url: 'https://acme.example.com', token: 'a-platform-key-0123456789' } },
    ...settings(folder),
  };
  writeFileSync(file, JSON.stringify(document), { mode: 0o600 });
  const logs: string[] = [];
  const logger = createLogger('debug', { write: (line) => void logs.push(line) });
  const apps: App[] = [];

  async function command(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const out: string[] = [];
    const err: string[] = [];
    const log = jest.spyOn(console, 'log').mockImplementation((line) => void out.push(String(line)));
    const error = jest.spyOn(console, 'error').mockImplementation((line) => void err.push(String(line)));
    try {
      const code = await runCli(['--config', file, ...args], { NO_COLOR: '1' });
      return { code, out: out.join('\n'), err: err.join('\n') };
    } finally {
      log.mockRestore();
      error.mockRestore();
    }
  }

  return {
    folder,
    prefix,
    logs,
    command,
    start: async () => {
      const config = loadConfig({ file, env: {}, cwd: folder });
      const deps = { logger, clock: systemClock, ids: randomIds, random: Math.random };
      const app = await startApp(config, 'api', deps);
      apps.push(app);
      return app;
    },
    create: async (name, ...more) => {
      const { code, out, err } = await command('token', 'create', name, '--json', ...more);
      if (code !== 0) throw new Error(err);
      return (JSON.parse(out) as { secret: string }).secret;
    },
    stop: async () => {
      await Promise.all(apps.map((app) => app.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
