// Tests a backup of stored data of which one item is damaged.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
beforeEach(async () => {
  place = await openPlace({});
}, 60_000);
afterEach(() => place.stop());
const { outcome, told } = commandsAt(() => place);

test('a backup leaves a damaged user out and names it, and its restore leaves the account of this user as it is', async () => {
  const ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  await place.idp.createGroup('north', [ann, bob]);
  await place.idle();
  const users = await place.key(':users');
  const stored = (await place.redis.hget(users, ann)) ?? '';
  await place.redis.hset(users, ann, stored.replace('{"', '{'));
  const file = join(place.commands.folder, 'day.backup');
  expect(await outcome('backup', file)).toEqual([
    2,
    expect.stringContaining(
      `Left out: default: users ${ann}. It is damaged, and a restore would refuse the file. Push this user again`,
    ),
  ]);
  await place.stopApps();
  expect(await outcome('restore', file, '--replace', '--yes')).toEqual([
    0,
    expect.stringContaining('1 user, 1 group, 3 links'),
  ]);
  await place.start();
  await told('release');
  await told('reconcile', '--yes');
  expect((await place.platform.user(ANN))?.active).toBe(true);
  await place.idp.createUser(ANN);
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(true);
  expect(await told('explain', ANN)).toContain(`${ANN} is at main as desired`);
}, 60_000);
