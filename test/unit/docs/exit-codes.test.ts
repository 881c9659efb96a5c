// Tests that the table of exit codes in docs/commands.md is the one of the program.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_EXITS } from '../../../src/cli/run-report.ts';
import { SYNC_EXITS } from '../../../src/cli/sync.ts';
import { ACCESS_EXITS } from '../../../src/cli/verify-access.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/commands.md'), 'utf8');

/** Returns the exit code of each outcome that the table has for a command. */
function documented(command: string): Record<string, number> {
  const rows = [...page.matchAll(/^\| (.+?) +\| (.+?) +\| (\d) +\|$/gm)];
  const own = rows.filter(([, commands = '']) => commands.includes(`\`${command}\``));
  return Object.fromEntries(
    own.flatMap(([, , outcomes = '', code]) =>
      [...outcomes.matchAll(/`(\w+)`/g)].map(([, outcome = '']) => [outcome, Number(code)]),
    ),
  );
}

test.each([
  ['sync', SYNC_EXITS],
  ['reconcile', RUN_EXITS],
  ['apply', RUN_EXITS],
  ['verify-access', ACCESS_EXITS],
])('docs/commands.md has the exit code of each outcome of %s', (command, exits) => {
  expect(documented(command)).toEqual(exits);
});
