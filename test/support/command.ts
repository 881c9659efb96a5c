// Runs commands in the test process and returns their output and exit code.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { runCli } from '../../src/cli/index.ts';

export interface Answer {
  code: number;
  /** Lines of standard output and standard error. */
  text: string;
  /** Standard output parsed as JSON; undefined when it is not JSON. */
  json: any;
}

export interface Commands {
  run(...args: string[]): Promise<Answer>;
  /** A folder that is removed with the commands. */
  folder: string;
  remove(): void;
}

/** @param settings content of the settings file */
export function createCommands(settings: object): Commands {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  const file = join(folder, 'bridge.json');
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  return {
    folder,
    remove: () => rmSync(folder, { recursive: true, force: true }),
    run: async (...args) => {
      const out: string[] = [];
      const all: string[] = [];
      const log = jest.spyOn(console, 'log').mockImplementation((line) => {
        out.push(String(line));
        all.push(String(line));
      });
      const error = jest.spyOn(console, 'error').mockImplementation((line) => void all.push(String(line)));
      try {
        const code = await runCli(['--config', file, ...args], { ...process.env, NO_COLOR: '1' });
        return { code, text: all.join('\n'), json: parsed(out.join('\n')) };
      } finally {
        log.mockRestore();
        error.mockRestore();
      }
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
