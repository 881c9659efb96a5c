// Tests a person who is deleted and hired again while the policy upsert-only leaves memberships.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { policy: 'upsert-only' } });
}, 60_000);
afterAll(() => place.stop());

test('the return to the policy sync takes the new record of a person out of the groups of the former one', async () => {
  const ids = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
  for (const name of ['left', 'back']) await place.idp.createGroup(name, ids);
  const old = await place.idp.createGroup('old', ids);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ids[0] ?? ''}`);
  await place.idp.send('DELETE', `/Groups/${old}`);
  await place.idle();
  const again = await place.idp.createUser(ANN);
  const members = async (name: string) => (await place.platform.group(name))?.members.toSorted();
  const { Resources } = (await place.idp.send('GET', '/Groups?filter=displayName%20eq%20%22back%22')).body;
  await place.idp.patch(`/Groups/${Resources[0].id}`, {
    op: 'add',
    path: 'members',
    value: [{ value: again }],
  });
  await place.idle();
  await expect(members('left')).resolves.toEqual([ANN, BOB]);

  await place.change(({ targets: { main } }) => {
    Object.assign(main as object, { policy: 'sync' });
  });
  await eventually('taken out', async () => (await members('left'))?.length === 1);
  await place.idle();
  await expect(members('left')).resolves.toEqual([BOB]);
  await expect(members('back')).resolves.toEqual([ANN, BOB]);
  await expect(members('old')).resolves.toBeUndefined();
  expect((await place.commands.run('plan')).text).toContain('no changes. The platform is as desired.');
}, 60_000);
