// Tests a person who is added to a group while out of scope, and whose account stays open because its deactivation is not allowed:
// back in scope, the person joins the group.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ann: string;
let crew: string;
beforeEach(async () => {
  const guard = { deactivate: { count: 0, percent: 0 } };
  place = await openPlace({ target: { guard, users: { scope: 'title ne "guest"' } } });
  ann = await place.idp.createUser(ANN);
  crew = await place.idp.createGroup('crew', [await place.idp.createUser(BOB)]);
  await place.idle();
  await setTitle('guest');
}, 60_000);
afterEach(() => place.stop());

async function setTitle(value: string): Promise<void> {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value });
  await place.idle();
}
async function addToCrew(): Promise<void> {
  await place.idp.patch(`/Groups/${crew}`, { op: 'add', path: 'members', value: [{ value: ann }] });
  await place.idle();
  expect(await members()).toEqual([BOB]);
}
async function decide(action: string): Promise<void> {
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  expect((await place.commands.run('approvals', action, id, '--yes')).code).toBe(0);
  await place.idle();
}
const members = async () => (await place.platform.group('crew'))?.members;

test.each(['held', 'rejected'])(
  'a person out of scope whose deactivation is %s is added to a group, synced again and then back in scope → the person joins the group',
  async (state) => {
    if (state === 'rejected') await decide('reject');
    await addToCrew();
    await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann' });
    await place.idle();
    expect(await members()).toEqual([BOB]);
    expect((await place.commands.run('plan')).text).not.toContain('addMember');
    await setTitle('engineer');
    expect(await members()).toEqual([BOB, ANN]);
    expect((await place.commands.run('status')).code).toBe(0);
  },
  60_000,
);

test('a person out of scope is added to a group, and the held deactivation is approved → the person does not join the group before being back in scope', async () => {
  await addToCrew();
  await decide('approve');
  expect(await place.platform.user(ANN)).toMatchObject({ active: false, groups: [] });
  expect((await place.commands.run('status')).code).toBe(0);
  expect((await place.commands.run('plan')).text).toContain('no changes');
  await setTitle('engineer');
  expect(await place.platform.user(ANN)).toMatchObject({ active: true, groups: ['crew'] });
}, 60_000);
