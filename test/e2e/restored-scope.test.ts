// Tests that the guard judges together what the present settings take away from restored people.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

const NAMES = Array.from({ length: 8 }, (_, number) => `p${number}@acme.example`);
const LEAVERS = NAMES.slice(0, 5);

let place: Place;
let file: string;
beforeAll(async () => {
  place = await openPlace({
    ownRedis: true,
    target: { guard: { deactivate: { count: 2, percent: 100 } } },
  });
  const ids = [];
  for (const userName of NAMES)
    ids.push(await place.idp.createUser(userName, LEAVERS.includes(userName) ? { title: 'guest' } : {}));
  await place.idp.createGroup('crew', ids);
  await place.idle();
  await run(place, 'reconcile', '--yes');
  // A push that is not applied yet when the backup is made.
  await run(place, 'hold');
  await place.idp.createUser('late@acme.example');
  file = join(place.commands.folder, 'old.backup');
  await run(place, 'backup', file);
  await place.stopApps();
  await run(place, 'restore', file, '--replace', '--yes');
}, 60_000);
afterAll(() => place.stop());

test('after a restore, a narrower scope of today closes nobody before an operator approves all of it', async () => {
  await place.change(({ targets }) => {
    targets.main.users = { scope: 'not (title eq "guest")' };
  });
  await eventually('the reconcile of the start has ended', async () =>
    /last reconcile \S+Z: held/.test((await place.commands.run('status')).text),
  );
  await run(place, 'release');
  await place.idle();
  const { users } = await place.platform.state();
  const openNames = users.filter(({ active }) => active).map(({ userName }) => userName);
  expect(openNames).toEqual(expect.arrayContaining(NAMES));
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  expect(approval).toMatchObject({ kinds: { deactivate: LEAVERS.length } });
  // The push before the backup, which was not applied then, comes with the release.
  expect(openNames).toContain('late@acme.example');
}, 60_000);
