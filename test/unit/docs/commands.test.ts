// Tests that docs/commands.md and the program name the same commands and options.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../../src/cli/index.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/commands.md'), 'utf8');

/** Returns each command and subcommand: full name and long options. */
function* commandsOf(parent: Command, prefix = ''): Generator<[name: string, options: string[]]> {
  for (const command of parent.commands) {
    const name = `${prefix}${command.name()}`;
    yield [name, command.options.map(({ long }) => long ?? '').sort()];
    yield* commandsOf(command, `${name} `);
  }
}

/** Returns each section of the page: its heading and the options in its list. */
const sections = page
  .split(/^##+ /m)
  .slice(1)
  .map((section): [string, string[]] => {
    const options = [...section.matchAll(/^- `(--[a-z-]+)/gm)].map(([, option = '']) => option);
    return [section.split('\n', 1)[0] ?? '', options.sort()];
  });

test('docs/commands.md names each command and option of the program, and no other', async () => {
  const program = await createProgram({ env: {}, cwd: '/', exit: () => undefined });
  expect(sections).toEqual([...commandsOf(program)]);
});
