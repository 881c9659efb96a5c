// Tests what a restore says of tokens, holds and orders of operators that stood before it.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

let place: Place;
afterEach(() => place.stop());

const pathOf = (name: string): string => join(place.commands.folder, name);
const outputOf = async (...args: string[]): Promise<string> =>
  (await place.commands.run(...args)).text.replaceAll(/\s+/g, ' ');

test('restore tells tokens of the file that are stored already from those that were left out', async () => {
  place = await openPlace({ roles: [] });
  await run(place, 'token', 'create', 'old');
  await run(place, 'token', 'create', 'revoked');
  await run(place, 'token', 'create', 'changed');
  const file = pathOf('day.backup');
  await run(place, 'backup', file);
  for (const name of ['revoked', 'changed']) await run(place, 'token', 'revoke', name);
  await run(place, 'token', 'create', 'changed');
  const text = await outputOf('restore', file, '--replace', '--yes');
  expect(text).toContain(
    'Inbound tokens of the file that were stored already stay as they are: old (default).',
  );
  expect(text).toMatch(
    /were left out: (revoked \(default\), changed|changed \(default\), revoked) \(default\)\. Make new ones/,
  );
}, 60_000);
