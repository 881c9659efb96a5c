// Tests sync of a person whose new group waits for the name of a group with a held deletion.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ADA = 'ada@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { delete: NONE, removeMembers: NONE } } });
}, 60_000);
afterAll(() => place.stop());

const { outcome } = commandsAt(() => place);

test('the new group of a person waits for the name of a group with a held deletion → sync of the person ends at once and says that the membership waits', async () => {
  const { idp } = place;
  const [ada, bob] = [await idp.createUser(ADA), await idp.createUser('bob@acme.example')];
  const former = await idp.createGroup('Finance', [bob]);
  await place.idle();
  await idp.send('DELETE', `/Groups/${former}`);
  const successor = await idp.createGroup('Finance', [ada]);
  await eventually(
    'the new group waits',
    async () => (await place.commands.run('explain', successor, '--json')).json?.[0]?.verdict === 'held',
  );
  const startedAt = Date.now();
  expect(await outcome('sync', ADA, '--timeout', '50')).toEqual([
    2,
    expect.stringContaining('waiting: 1 membership is not written yet: Finance'),
  ]);
  expect(Date.now() - startedAt).toBeLessThan(40_000);
}, 90_000);
