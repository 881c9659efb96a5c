// Tests that plan and sync --dry-run foresee the refusal of a group whose name at the target another group has.
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { groups: { rename: [{ match: '^(east|west)$', to: 'x' }] } } });
}, 60_000);
afterAll(() => place.stop());

const { outcome } = commandsAt(() => place);

test('a new group needs the platform name of a linked group → plan and sync --dry-run exit 0 and name the linked group, and sync exits 1', async () => {
  const ann = await place.idp.createUser('ann@acme.example');
  const east = await place.idp.createGroup('east', [ann]);
  await place.idle();
  await outcome('hold', '--by', 'olga');
  await place.idp.createGroup('west', [ann]);
  const taken = `the group x is already linked to Group:${east}: rename one of the two`;
  for (const command of [['plan'], ['sync', 'west', '--dry-run']])
    expect(await outcome(...command)).toEqual([0, expect.stringContaining(taken)]);
  await outcome('release');
  await place.idle();
  for (const command of [['plan'], ['sync', 'west', '--dry-run']])
    expect(await outcome(...command)).toEqual([0, expect.stringContaining(taken)]);
  expect(await outcome('sync', 'west')).toEqual([1, expect.stringContaining(taken)]);
});
