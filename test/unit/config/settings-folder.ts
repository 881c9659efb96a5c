// Creates a temporary folder with a settings file and loads it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import { ConfigError, loadConfig, type ConfigChecks, type ConfigFault } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';

export const SECRET = 'scim-secret-0123456789abcdef';
export const KEY = 'platform-key-0123456789abcdef';

/** The three variables that are enough without a file. */
export const ENV = { PLATFORM_URL: 'https://acme.example.com', PLATFORM_TOKEN: KEY, SCIM_TOKEN: SECRET };

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder with the given files, path → text; it is removed after the tests of the file. */
export function folderWith(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Loads this text as config/bridge.yaml. */
export function loadText(text: string, env: NodeJS.ProcessEnv = {}, checks?: ConfigChecks): Config {
  return loadConfig({ env, cwd: folderWith({ 'config/bridge.yaml': text }), checks });
}

/** Returns the error that an action throws; fails when it throws none or another one. */
export function errorOf(action: () => unknown): ConfigError {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('no ConfigError was thrown');
}

/** Returns the faults of this text as config/bridge.yaml. */
export function faultsOf(text: string, env: NodeJS.ProcessEnv = {}, checks?: ConfigChecks): ConfigFault[] {
  return errorOf(() => loadText(text, env, checks)).faults;
}

/** Returns a valid file with one connection and one target; `more` is added below the target. */
export function fileWith(more = '', rest = ''): string {
  return `connections:
  default: { tokens: [{ name: primary, secret: ${SECRET} }] }
targets:
  main:
    url: https://acme.example.com
    token: ${KEY}
${more.replace(/^(?=.)/gm, '    ')}
${rest}`;
}
