// Tests a group that gets the name of another group of the same connection, by the settings.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
let crew: string;
let sales: string;
beforeAll(async () => {
  place = await openPlace({});
  const ann = await place.idp.createUser('ann@acme.example');
  sales = await place.idp.createGroup('Sales', [ann]);
  crew = await place.idp.createGroup('Crew', [ann]);
  await place.idle();
  await place.change(({ targets: { main } }) => {
    main.groups = { rename: [{ match: '^Crew$', to: 'Sales' }] };
  });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

/** Returns the entries of a plan about groups. */
async function planned(...options: string[]) {
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file, ...options);
  const { entries } = JSON.parse(readFileSync(file, 'utf8')).plans[0];
  return entries.filter(({ kind }: { kind: string }) => kind === 'Group');
}

test('groups.rename gives a group the name of another one → plan shows the rename as an update', async () => {
  expect(await planned()).toMatchObject([
    { action: 'update', effect: 'apply', before: { displayName: 'Crew' }, after: { displayName: 'Sales' } },
  ]);
}, 60_000);

test('a group that is to get the name of another one is synced → the dead letter names the other group and groups.rename', async () => {
  const { code, text } = await place.commands.run('sync', 'Crew');
  expect(code).toBe(1);
  expect(text).toContain(`Group:${sales}`);
  const { json } = await place.commands.run('dead-letters', 'list', '--json');
  expect(json).toMatchObject([{ ref: `Group:${crew}`, reason: 'Conflict', status: 409 }]);
  expect(json[0].message).toContain(`the name Sales is already taken by the group of Group:${sales}`);
  expect(json[0].message).toContain('groups.rename');
  expect(await place.platform.group('Crew')).toMatchObject({ members: ['ann@acme.example'] });
}, 60_000);

test('the rename rule is taken back → the next reconcile ends the dead letter', async () => {
  await place.change(({ targets: { main } }) => {
    delete main.groups;
  });
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect((await place.commands.run('dead-letters', 'list', '--json')).json).toEqual([]);
}, 60_000);
