// Tests that links forget is refused while the link is needed to take access away.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let bob: string;
let analysts: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE, removeMembers: NONE } } });
  const ann = await place.idp.createUser(ANN);
  bob = await place.idp.createUser(BOB);
  analysts = await place.idp.createGroup('analysts', [ann, bob]);
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

const forget = (...flags: string[]) => place.commands.run('links', 'forget', `User:${bob}`, ...flags);
const told = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;

test('links forget of a leaver with a held deactivation exits 1, and the deactivation is still written after its approval', async () => {
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idle();
  const refused = await forget();
  expect(refused.code).toBe(1);
  expect(refused.text).toContain('the person is deleted at the source');
  expect(refused.text).toMatch(/^At main: The account may be active, .*\. Without its link/m);
  expect((await forget('--target', 'main')).text).toContain(`User:${bob} --target main --leave-account`);
  const [id = ''] = /default\.main\.\d+-\d+/.exec(await told('approvals', 'list')) ?? [];
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  expect((await place.platform.user(BOB))?.active).toBe(false);
  expect((await forget()).code).toBe(0);
}, 60_000);

test('links forget of a leaver exits 1 while the target is on hold', async () => {
  await place.commands.run('hold');
  await place.idp.send('DELETE', `/Users/${bob}`);
  expect((await forget()).code).toBe(1);
}, 60_000);

test('links forget of a person whose removal from a group is held says that the person is still in the group', async () => {
  await place.idp.patch(`/Groups/${analysts}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.idle();
  expect((await forget()).text).toContain('still in 1 group against the source');
}, 60_000);

test('links forget of a pushed person says that the next sync adopts the account again, and users.protected prevents the adoption', async () => {
  const setActive = (value: boolean) =>
    place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value });
  await setActive(false);
  await place.idle();
  const advice =
    'where adopt is exact, the next sync adopts the account again and takes the access away. To leave the account as it is, name the person in targets.main.users.protected';
  const refused = (await forget()).text.replace(/\s+/g, ' ');
  expect(refused).toContain(advice);
  expect(refused).toMatch(
    /before the link is dropped\. Then: scim-bridge links forget \S+ .*--leave-account/,
  );
  expect(refused).not.toContain('To leave the account or group as it is');
  expect((await forget('--leave-account')).text.replace(/\s+/g, ' ')).toContain(advice);
  await place.idle();
  expect(await told('links', 'show', BOB)).toContain('adopted');
  expect(await told('approvals', 'list')).toContain('1 to deactivate');

  await place.change(({ targets: { main } }) =>
    Object.assign(main as object, { users: { protected: [BOB] } }),
  );
  await place.idle();
  expect((await forget('--leave-account')).code).toBe(0);
  await place.idle();
  expect((await place.platform.user(BOB))?.active).toBe(true);
  expect(await told('links', 'show', BOB)).toContain('not linked');
}, 60_000);

test('links forget --leave-account of a leaver with an open account removes the link, and the audit entry says that the account stays', async () => {
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idle();
  expect((await forget('--leave-account')).code).toBe(0);
  expect((await place.platform.user(BOB))?.active).toBe(true);
  expect(await told('acts')).toContain('left as it is');
}, 60_000);

test('links forget of a person who is as desired exits 0 without --leave-account', async () => {
  expect((await forget()).code).toBe(0);
}, 60_000);
