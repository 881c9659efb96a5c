// Tests the sentences about held changes: several emptied values of one person, and the deletion of a group with members.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
beforeAll(async () => {
  const attributes = {
    team: { type: 'string', from: 'nickName' },
    level: { type: 'string', from: 'title' },
  };
  place = await openPlace({ target: { guard: { removeMembers: NONE, clearAttributes: NONE }, attributes } });
  const { idp } = place;
  const ann = await idp.createUser(ANN, { nickName: 'red', title: 'high' });
  const bob = await idp.createUser('bob@acme.example');
  const sales = await idp.createGroup('Sales', [bob]);
  await place.idle();
  await idp.patch(`/Users/${ann}`, { op: 'remove', path: 'nickName' }, { op: 'remove', path: 'title' });
  await idp.send('DELETE', `/Groups/${sales}`);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

test('the guard holds two emptied values of a person → explain tells their number', async () => {
  const [{ reasons }] = (await place.commands.run('explain', ANN, '--json')).json;
  expect(reasons.join('\n')).toContain('holds its 2 cleared attributes: ');
});

test('the guard holds a deleted group because of its members → approvals show tells why a deletion within its limit is held', async () => {
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  const { text } = await place.commands.run('approvals', 'show', id);
  expect(text).toContain('at most 10 to delete');
  expect(text).toContain('; the deletion of a group is held with the removals of its members');
});
