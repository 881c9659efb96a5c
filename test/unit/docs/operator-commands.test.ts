// Tests that each scim-bridge command of the pages exists, with its options. kubectl and helm: cluster-commands.test.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../../src/cli/index.ts';

const DOCS = join(import.meta.dirname, '../../../docs');
/** Pages that name commands without `scim-bridge`. */
const PAGES = [
  'runbook.md',
  'alerts.md',
  'day-two.md',
  'dead-letters.md',
  'people.md',
  'drift.md',
  'rotation.md',
];
const textOf = (page: string): string => readFileSync(join(DOCS, page), 'utf8');
const OTHERS = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
  .filter((page) => page.endsWith('.md') && !PAGES.includes(page))
  .concat('../README.md', '../helm/scim-bridge/README.md');

/** Commands of the program, by their words. */
async function programCommands(): Promise<{ commands: Map<string, Command>; general: Set<string> }> {
  const program = await createProgram({ env: {}, cwd: '/', exit: () => undefined });
  const found = new Map<string, Command>();
  const add = (parent: Command, words: string[]): void => {
    for (const command of parent.commands) {
      const path = [...words, command.name()];
      found.set(path.join(' '), command);
      add(command, path);
    }
  };
  add(program, []);
  return { commands: found, general: new Set(program.options.map(({ long }) => long ?? '')) };
}

/** The program itself, and lines of the log that begin with the name of a command. */
const NO_COMMANDS = ['scim-bridge', 'scim-bridge COMMAND', 'scim-bridge --version'].concat(
  'token expires soon',
  'events were dropped',
);

interface Quoted {
  page: string;
  text: string;
}

/** Code in backticks that begins with a command of the program, with or without its name. */
const quoted = (names: Set<string>): Quoted[] =>
  [...PAGES, ...OTHERS].flatMap((page) =>
    [...textOf(page).matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => {
      const [call = ''] = code.split(' | ');
      const text = call.replace(/^.* -- (?=scim-bridge )/, '').replace(/^docker exec \S+ /, '');
      const [first = '', second = ''] = text.split(' ');
      if (NO_COMMANDS.includes(text)) return [];
      if (first === 'scim-bridge') return [{ page, text: text.slice('scim-bridge '.length) }];
      // One word such as `status` may be a field; with arguments it is a command.
      return PAGES.includes(page) && names.has(first) && second !== '' && !text.includes('=')
        ? [{ page, text }]
        : [];
    }),
  );

test('every scim-bridge command that a page of docs names exists, with its options', async () => {
  const { commands, general } = await programCommands();
  const all = quoted(new Set([...commands.keys()].map((path) => path.split(' ')[0] ?? '')));
  expect(all.length).toBeGreaterThan(40);
  const unknown = all.filter(({ text }) => {
    const words = text.split(/\s+/);
    const path = [2, 1].map((length) => words.slice(0, length).join(' ')).find((each) => commands.has(each));
    const command = commands.get(path ?? '');
    if (!command) return true;
    const isGroup = command.commands.length > 0;
    const options = new Set([...general, ...command.options.map(({ long }) => long)]);
    const missing = words.filter((word) => word.startsWith('--')).some((word) => !options.has(word));
    return missing || (isGroup && words.length > 1);
  });
  expect(unknown).toEqual([]);
});
