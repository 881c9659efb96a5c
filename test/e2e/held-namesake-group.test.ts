// Tests explain of a person whom the source took out of a group that is not made yet, because it waits for the held deletion
// of a group with the same name.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
const ids: Record<string, string> = {};
beforeEach(async () => {
  const attributes = { team: { type: 'string', from: 'nickName' } };
  place = await openPlace({ target: { guard: { delete: NONE, removeMembers: NONE }, attributes } });
  const { idp } = place;
  for (const name of [ANN, BOB]) ids[name] = await idp.createUser(name, { nickName: 'red' });
  const former = await idp.createGroup('Finance', [ids[BOB] ?? '']);
  await place.idle();
  await idp.send('DELETE', `/Groups/${former}`);
  const successor = await idp.createGroup('Finance', [ids[ANN] ?? '', ids[BOB] ?? '']);
  await eventually('the new group waits', async () => (await explained(successor)).verdict === 'held');
  await idp.patch(`/Groups/${successor}`, { op: 'remove', path: 'members' });
  await eventually('the removal is stored', async () => (await explained(successor)).members.desired === 0);
}, 60_000);
afterEach(() => place.stop());

const explained = async (name: string): Promise<any> =>
  (await place.commands.run('explain', name, '--json')).json?.[0] ?? {};

test('the deletion of a group is held → explain calls its member held, and a source member who never joined at the platform as desired', async () => {
  const ann = await explained(ANN);
  expect(ann).toMatchObject({ verdict: 'asDesired', memberships: [], approval: null });
  expect(ann.summary).toContain('in 0 groups');
  const bob = await explained(BOB);
  expect(bob).toMatchObject({ verdict: 'held', memberships: [{ name: 'Finance', state: 'toRemove' }] });
}, 60_000);

test('a new group waits for the name of a group with a held deletion → explain of a person whose value depends on it has the verdict held', async () => {
  await place.idp.patch(`/Users/${ids[ANN] ?? ''}`, { op: 'replace', path: 'nickName', value: 'blue' });
  await eventually('the value waits', async () => (await explained(ANN)).mark?.state === 'due');
  expect(await explained(ANN)).toMatchObject({
    verdict: 'held',
    memberships: [{ name: 'Finance', state: 'toRemove', condition: 'Held' }],
  });
}, 60_000);
