// Tests that a plan adds only those people to groups whom the sync adds: people in the scope of the target.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const GUEST = 'guest@acme.example';
const BOB = 'bob@acme.example';
const NEW = 'new@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { users: { scope: 'title ne "guest"' } } });
}, 30_000);
afterAll(() => place.stop());

test('plan and sync add a new person in scope to groups, and no person who is or goes out of scope', async () => {
  const { idp } = place;
  const bob = await idp.createUser(BOB);
  const crew = await idp.createGroup('crew', []);
  await place.idle();
  await place.commands.run('hold', '--by', 'olga');
  const guest = await idp.createUser(GUEST, { title: 'guest' });
  const hire = await idp.createUser(NEW);
  const everybody = [bob, guest, hire];
  await idp.patch(`/Groups/${crew}`, {
    op: 'add',
    path: 'members',
    value: everybody.map((value) => ({ value })),
  });
  await idp.createGroup('staff', everybody);
  await idp.patch(`/Users/${bob}`, { op: 'replace', path: 'title', value: 'guest' });
  const { text } = await place.commands.run('plan');
  const added = [...text.matchAll(/addMember person (\S+ in \w+)/g)].map(([, each]) => each);
  expect(added.toSorted()).toEqual([`${NEW} in crew`, `${NEW} in staff`]);
  for (const name of ['crew', 'staff']) {
    const dryRun = (await place.commands.run('sync', name, '--dry-run')).text;
    expect(dryRun).toContain(NEW);
    for (const left of [GUEST, BOB]) expect(dryRun).not.toContain(left);
  }
  await place.commands.run('release');
  await place.idle();
  for (const name of ['crew', 'staff']) expect((await place.platform.group(name))?.members).toEqual([NEW]);
}, 60_000);
