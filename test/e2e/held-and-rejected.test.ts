// Tests that exceptions, status, plan and explain name both the held and the rejected changes of one resource.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann@acme.example', 'bob@acme.example', 'cid@acme.example'];
const NONE = { count: 0, percent: 0 };

let place: Place;
beforeAll(async () => {
  const attributes = { title: { type: 'string', from: 'title' }, team: { type: 'string', from: 'nickName' } };
  const guard = { deactivate: NONE, removeMembers: NONE, clearAttributes: NONE };
  const users = { scope: 'userType ne "Guest"' };
  place = await openPlace({ target: { guard, attributes, users } });
});
afterAll(() => place.stop());

const outputOf = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;
const heldId = async (): Promise<string> =>
  (await place.commands.run('approvals', 'list', '--json')).json[0].id;
async function reject(...selection: string[]): Promise<void> {
  const { code } = await place.commands.run('approvals', 'reject', await heldId(), ...selection, '--yes');
  expect(code).toBe(0);
  await place.idle();
}

test('a group has held and rejected removals → exceptions, status, plan and explain name both kinds', async () => {
  const ids: string[] = [];
  for (const name of NAMES) ids.push(await place.idp.createUser(name));
  const crew = await place.idp.createGroup('crew', ids);
  await place.idle();
  await place.idp.send('PUT', `/Groups/${crew}`, { displayName: 'crew', members: [] });
  await place.idle();
  await reject('--person', NAMES[0] ?? '');
  const both = 'the removal of members; a person rejected the removal of other members';
  for (const command of [['exceptions'], ['status'], ['plan'], ['explain', 'crew', '--all']])
    expect(await outputOf(...command)).toContain(both);
  await reject();
  const rejected = 'a person rejected the removal of members: the platform keeps what it has';
  expect(await outputOf('exceptions')).toContain(rejected);
}, 60_000);

test('a person has a held and a rejected clearing of attributes → exceptions, status, plan and explain name both', async () => {
  const dan = await place.idp.createUser('dan@acme.example', { title: 'Head', nickName: 'red' });
  await place.idle();
  await place.idp.patch(`/Users/${dan}`, { op: 'remove', path: 'title' });
  await place.idle();
  await reject('--ref', `User:${dan}`);
  await place.idp.patch(`/Users/${dan}`, { op: 'remove', path: 'nickName' });
  await place.idle();
  const both = 'the emptying of attributes; a person rejected the emptying of other attributes';
  for (const command of [['exceptions'], ['status'], ['plan'], ['explain', 'dan@acme.example', '--all']])
    expect(await outputOf(...command)).toContain(both);
}, 60_000);

test.each([
  ['is inactive', 'active', false, true],
  ['is out of scope', 'userType', 'Guest', 'Employee'],
])(
  'a rejected clearing of an attribute stays rejected while the guard holds the deactivation of a person who %s',
  async (_, path, gone, back) => {
    const name = `${path.toLowerCase()}@acme.example`;
    const eve = await place.idp.createUser(name, { title: 'Head', userType: 'Employee' });
    await place.idle();
    await place.idp.patch(`/Users/${eve}`, { op: 'remove', path: 'title' });
    await place.idle();
    await reject('--ref', `User:${eve}`);
    const reasonOf = async (): Promise<string> =>
      (await place.commands.run('exceptions', '--json')).json.find(({ ref }: any) => ref === `User:${eve}`)
        ?.reason;
    expect(await reasonOf()).toBe('Rejected');
    await place.idp.patch(`/Users/${eve}`, { op: 'replace', path, value: gone });
    await place.idle();
    expect(await reasonOf()).toBe('Held');
    await place.idp.patch(`/Users/${eve}`, { op: 'replace', path, value: back });
    await place.idle();
    expect(await reasonOf()).toBe('Rejected');
  },
  60_000,
);
