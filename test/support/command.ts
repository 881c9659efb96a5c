// Runs commands in the test process and returns their output and exit code.
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../src/cli/index.ts';
import { checkCommandJson } from './answer-schemas.ts';
import { unwrapped } from './unwrapped.ts';

export interface Answer {
  code: number;
  /** Lines of standard output and standard error; a line that was wrapped is one line here. */
  text: string;
  /** The same lines as printed, with wrapped lines as several. */
  lines: string[];
  /** Standard error alone, without the line breaks of wrapped lines. */
  errors: string;
  /** Standard output parsed as JSON; undefined when it is not JSON. */
  json: any;
}

export interface Commands {
  run(...args: string[]): Promise<Answer>;
  /** A folder that is removed with the commands. */
  folder: string;
  remove(): void;
}

interface Printed {
  out: string[];
  errors: string[];
  all: string[];
}

/** Lines of the running command. Commands may run at the same time, and each gets its own lines. */
const running = new AsyncLocalStorage<Printed>();
const { log, error } = console;
Object.assign(console, {
  log: (...words: unknown[]) => {
    const printed = running.getStore();
    if (!printed) return log(...words);
    printed.out.push(String(words[0]));
    printed.all.push(String(words[0]));
  },
  error: (...words: unknown[]) => {
    const printed = running.getStore();
    if (!printed) return error(...words);
    printed.errors.push(String(words[0]));
    printed.all.push(String(words[0]));
  },
});

/** @param settings content of the settings file */
export function createCommands(settings: object): Commands {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
  const file = join(folder, 'bridge.json');
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  return {
    folder,
    remove: () => rmSync(folder, { recursive: true, force: true }),
    run: async (...args) => {
      const printed: Printed = { out: [], errors: [], all: [] };
      const settled = ['--config', file, ...args];
      const code = await running.run(printed, () => runCli(settled, { ...process.env, NO_COLOR: '1' }));
      const text = printed.all.map(unwrapped).join('\n');
      const errors = printed.errors.map(unwrapped).join('\n');
      const lines = printed.all.flatMap((line) => line.split('\n'));
      const json = parsed(printed.out.join('\n'));
      checkCommandJson(args, json === undefined ? printed.out.flatMap((line) => parsed(line) ?? []) : [json]);
      return { code, text, errors, lines, json };
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
