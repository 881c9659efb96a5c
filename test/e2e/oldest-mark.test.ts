// Tests the command of docs/people.md that finds the oldest change that is not applied.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/people.md'), 'utf8');

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
}, 60_000);
afterAll(() => place.stop());

test('the redis-cli command in docs/people.md prints the ref of the oldest waiting change, and log finds its entries by this ref', async () => {
  await place.commands.run('hold', '--by', 'olga');
  const first = await place.idp.createUser('ann@acme.example');
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const name of ['bob', 'eve']) await place.idp.createUser(`${name}@acme.example`);
  const [line = ''] = /^redis-cli .*marks:main' \|.*$/m.exec(PAGE) ?? [];
  const { url, prefix } = place.settings.redis;
  const command = line.replace('redis-cli', `redis-cli -u ${url}`).replace('scim-bridge:', `${prefix}:`);
  const printed = execFileSync('sh', ['-c', command], { encoding: 'utf8' });
  expect(printed.split(/\s/)[0]).toBe(`User:${first}`);
  await place.commands.run('release', '--by', 'olga');
  await place.idle();
  const { text } = await place.commands.run('log', '--resource', `User:${first}`);
  expect(text).toContain('ann@acme.example');
}, 30_000);
