// Tests that the operators' page names its views and buttons where the service names a command.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
// @ts-expect-error The page is plain JavaScript.
import { pageWords, partsOf } from '../../../src/ui/commands.js';

const SRC = join(import.meta.dirname, '../../../src');
/** Folders of src whose sentences reach the page through the admin API. */
const FOLDERS = ['ops', 'explain', 'reconcile', 'sync', 'guard', 'notices', 'http/admin'];

test.each([
  ['See scim-bridge approvals list, then approve or reject.', 'See Approvals, then approve or reject.'],
  [
    'Correct the cause, then scim-bridge dead-letters retry.',
    'Correct the cause, then Retry under Dead letters.',
  ],
  ['held by the guard: scim-bridge approvals show default.3f', 'held by the guard: see Approvals'],
  ['See scim-bridge approvals show default.3f, then approve.', 'See Approvals, then approve.'],
  [
    'Start scim-bridge serve --role worker (or all).',
    'Start a process of the bridge with the role worker (or all).',
  ],
  [
    'If it is meant: scim-bridge reconcile --target main --accept-tenant. If not: scim-bridge release --target main',
    'If it is meant: the command reconcile with the option accept-tenant. If not: Release',
  ],
  ['Correct the cause, then scim-bridge sync User:3f-1.', 'Correct the cause, then Sync now.'],
  ['Run scim-bridge doctor --repair.', 'Run the command doctor with the option repair.'],
  ['scim-bridge notices test ops; it is sent again.', 'the command notices test ops; it is sent again.'],
  [
    'Nothing: scim-bridge approvals withdraw default.main.2-7 --ref User:3f-1 takes it back.',
    'Nothing: Withdraw under Approvals takes it back.',
  ],
  [
    'Nothing: scim-bridge approvals withdraw default.main.2-7~0f3a --ref User:3f-1 takes it back.',
    'Nothing: Withdraw under Approvals takes it back.',
  ],
  ['Set it, then scim-bridge dead-letters retry Group:3f.', 'Set it, then Retry under Dead letters.'],
  ['scim-bridge explain NAME tells what to do', 'People and groups tells what to do'],
  ['a version that scim-bridge knows', 'a version that scim-bridge knows'],
  [
    'order scim-bridge links forget User:eve0 --target main, then retry',
    'order the command links forget User:eve0 for the target main, then retry',
  ],
  ['scim-bridge links forget ends it', 'the command links forget ends it'],
])('the operators\' page shows the service message "%s" as "%s"', (sentence, shown) => {
  expect(pageWords(sentence)).toBe(shown);
});

test("commands in a text become links to views of the operators' page, for an approval with its id", () => {
  expect(partsOf('It waits: scim-bridge approvals show default.3f-1, then approve or reject.')).toEqual([
    'It waits: ',
    { text: 'see Approvals', view: 'approvals', id: 'default.3f-1' },
    ', then approve or reject.',
  ]);
  expect(partsOf('scim-bridge approvals withdraw default.3f-1 --ref User:1 takes it back')).toEqual([
    { text: 'Withdraw under Approvals', view: 'approvals', id: 'default.3f-1' },
    ' takes it back',
  ]);
  expect(partsOf('scim-bridge approvals withdraw default.main.2-7~0f3a --ref User:1')).toEqual([
    { text: 'Withdraw under Approvals', view: 'approvals', id: 'default.main.2-7~0f3a' },
  ]);
});

test("no message of the service shows a command-line option on the operators' page", () => {
  // Source lines that name a command, without comments and descriptions of commands; each `${…}` gets a value.
  const shown = FOLDERS.flatMap((folder) =>
    readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => readFileSync(join(SRC, folder, file), 'utf8').split('\n')),
  )
    .filter((line) => /scim-bridge [a-z]/.test(line) && !/^\s*(command|\/\/|\*|\/\*\*)/.test(line))
    .map((line) => pageWords(line.replaceAll(/\$\{[\w.]+\}/g, 'main')));
  // So many are found only if the folders were read.
  expect(shown.length).toBeGreaterThan(30);
  expect(shown.filter((line) => /scim-bridge (?:[a-z-]+ )*--|the command .*--/.test(line))).toEqual([]);
});
