// Tests explain of a deleted person whose deactivation is held, while the guard holds removals of others from the same group.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE, removeMembers: NONE } } });
}, 30_000);
afterAll(() => place.stop());

test('explain of a leaver says that the membership ends with the held deactivation, and the approval of this deactivation ends it', async () => {
  const ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser('bob@acme.example');
  const big = await place.idp.createGroup('Big', [ann, bob]);
  await place.idle();
  await place.idp.patch(`/Groups/${big}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();

  const { text } = await place.commands.run('explain', ann, '--all');
  expect(text).toContain('holds its deactivation: scim-bridge approvals show');
  expect(text).toContain('- Big (leaves with the account, whose deactivation the guard holds)');
  // The approval of the deactivation alone takes the person out of the group.
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--ref', `User:${ann}`, '--yes');
  await place.idle();
  expect((await place.platform.group('Big'))?.members).toEqual([expect.stringContaining('bob')]);
}, 30_000);
