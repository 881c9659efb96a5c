// Tests the memberships of a deleted person whose deactivation an operator rejected: they stay with the account.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const KEPT = 'stays with the account, whose deactivation a person rejected';
const BOTH = [
  [ANN, BOB],
  [ANN, BOB],
];
const WITHOUT_ANN = [[BOB], [BOB]];

let place: Place;
let ann: string;
let crew: string;
let deck: string;
/** Id of the approval that held the deactivation. */
let id: string;
/** Rejects the deactivation of a deleted person who was in two groups. The guard would allow the removals from them. */
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  crew = await place.idp.createGroup('crew', [ann, bob]);
  deck = await place.idp.createGroup('deck', [ann, bob]);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  id = await heldId();
  await place.platform.forgetRequests();
  await decide('reject', id);
}, 60_000);
afterEach(() => place.stop());

const heldId = async (): Promise<string> =>
  (await place.commands.run('approvals', 'list', '--json')).json[0].id;
async function decide(action: string, approval: string): Promise<void> {
  expect((await place.commands.run('approvals', action, approval, '--yes')).code).toBe(0);
  await place.idle();
}
async function run(...args: string[]): Promise<{ code: number; text: string }> {
  const { code, text } = await place.commands.run(...args);
  await place.idle();
  return { code, text: text.replaceAll(/\s+/g, ' ') };
}
const members = () =>
  Promise.all(['crew', 'deck'].map(async (name) => (await place.platform.group(name))?.members));
const accountPath = async (): Promise<string> => `/Users/${(await place.platform.user(ANN))?.scimId}`;

test('the deactivation of a deleted person is rejected → the person stays in the groups, and explain, exceptions, status, plan and verify-access name the rejection', async () => {
  for (const name of [ann, 'crew']) expect((await run('explain', name, '--all')).text).toContain(`(${KEPT})`);
  const ofGroup = 'a person rejected the deactivation of 1 member, who stays in the group with the account';
  for (const command of ['exceptions', 'status', 'plan'])
    expect((await run(command)).text).toContain(ofGroup);
  expect((await run('verify-access', ann)).text).toContain('the membership stays with the account, in crew');
  expect((await run('plan')).text).toContain('nothing to write');
  expect((await run('sync', ann, '--dry-run')).text).toContain('nothing would be written');
  for (const options of [[], ['--full']])
    expect((await run('reconcile', ...options, '--yes')).text).toContain(
      'converged: except 3 exceptions (3 rejected)',
    );
  await run('sync', 'crew');
  await run('sync', ann);
  // Other pushed changes of the group are written.
  const cid = await place.idp.createUser('cid@acme.example');
  await place.idp.patch(`/Groups/${crew}`, { op: 'add', path: 'members', value: [{ value: cid }] });
  await place.idle();
  expect(await members()).toEqual([
    [ANN, BOB, 'cid@acme.example'],
    [ANN, BOB],
  ]);
  const removals = (await place.platform.writes()).filter(({ body }) =>
    JSON.stringify(body).includes('remove'),
  );
  expect(removals).toEqual([]);
}, 60_000);

test("the rejection of a deleted person's deactivation is withdrawn, and the deactivation approved → the account is closed and leaves the groups", async () => {
  await decide('withdraw', id);
  expect(await members()).toEqual(BOTH);
  const { text } = await run('explain', 'crew', '--all');
  expect(text).toContain('leaves with the account, whose deactivation the guard holds');
  await decide('approve', await heldId());
  expect((await place.platform.user(ANN))?.active).toBe(false);
  expect(await members()).toEqual(WITHOUT_ANN);
  expect((await run('status')).code).toBe(0);
}, 60_000);

test('the rejected deactivation of a deleted person is approved → the account is closed and leaves the groups', async () => {
  await decide('approve', id);
  expect((await place.platform.user(ANN))?.active).toBe(false);
  expect(await members()).toEqual(WITHOUT_ANN);
  expect((await run('status')).code).toBe(0);
}, 60_000);

test('the rejected deactivation of a deleted person is approved, but the platform refuses it → the person leaves the groups', async () => {
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'scim/v2/Users', times: 1000, status5xx: { share: 1, status: 400 } }],
  });
  await decide('approve', id);
  expect((await place.platform.user(ANN))?.active).toBe(true);
  expect(await members()).toEqual(WITHOUT_ANN);
}, 60_000);

test('a rejected deactivation is withdrawn and rejected again while the target is on hold → exceptions, explain and verify-access show each decision before the release', async () => {
  await place.commands.run('hold');
  await place.commands.run('approvals', 'withdraw', id, '--yes');
  const exceptions = async (): Promise<string> => (await place.commands.run('exceptions')).text;
  // The decision ends the exceptions of the person and of the groups, although no sync runs before the end of the hold.
  expect(await exceptions()).not.toMatch(/crew|a person rejected|approve or reject/);
  for (const command of [
    ['explain', 'crew'],
    ['explain', ann],
    ['verify-access', ann],
  ])
    expect((await place.commands.run(...command)).text).not.toMatch(/stays with|protected/);
  await run('release');
  expect(await members()).toEqual(BOTH);

  await place.commands.run('hold');
  await place.commands.run('approvals', 'reject', await heldId(), '--yes');
  expect(await exceptions()).not.toContain('approve or reject');
  for (const name of [ann, 'crew'])
    expect((await place.commands.run('explain', name, '--all')).text).toContain(`(${KEPT})`);
  await run('release');
  expect(await members()).toEqual(BOTH);
}, 60_000);

test('a deleted person with a rejected deactivation is pushed again with one group → the new record gets the account and exactly that group', async () => {
  const again = await place.idp.createUser(ANN);
  await place.idp.patch(`/Groups/${deck}`, { op: 'add', path: 'members', value: [{ value: again }] });
  await place.idle();
  expect(await place.platform.user(ANN)).toMatchObject({ active: true, groups: ['deck'] });

  expect((await run('status')).code).toBe(0);
  expect((await run('plan')).text).toContain('no changes');
}, 60_000);

test.each(['PATCH', 'DELETE'])(
  'somebody closes or deletes the account of a rejected deactivation (%s) → the next reconcile ends the rejection, and the person leaves the groups',
  async (method) => {
    const close = { op: 'replace', path: 'active', value: false };
    await byHand(place, method, await accountPath(), ...(method === 'PATCH' ? [close] : []));
    await run('reconcile', '--yes');
    await place.idle();
    expect(await members()).toEqual(WITHOUT_ANN);
    expect((await run('status')).code).toBe(0);
    expect((await run('plan')).text).toContain('no changes');
  },
  60_000,
);

test('somebody removes a person with a rejected deactivation from a group → explain and plan do not say that the person stays there', async () => {
  const { scimId } = (await place.platform.group('crew')) ?? {};
  const path = `members[value eq "${(await place.platform.user(ANN))?.scimId}"]`;
  await byHand(place, 'PATCH', `/Groups/${scimId}`, { op: 'remove', path });
  expect((await run('explain', ann, '--all')).text).not.toContain('crew (');
  expect((await run('explain', 'crew')).text).toContain('crew is at main as desired');
  expect((await run('plan')).text).toContain(
    '1 member whose removal is decided with the account is not in the group at the platform',
  );
  expect((await run('reconcile', '--yes')).text).toContain('converged: except 2 exceptions (2 rejected)');
  expect(await members()).toEqual([[BOB], [ANN, BOB]]);
  expect((await run('exceptions')).text).not.toContain('crew');
}, 60_000);

test('a deleted person has a rejected deactivation, and the source deletes one of two groups → this group is deleted, and the person stays in the other one', async () => {
  await place.idp.send('DELETE', `/Groups/${crew}`);
  await place.idle();
  expect(await members()).toEqual([undefined, [ANN, BOB]]);
  expect((await run('plan')).text).toContain('nothing to write');
}, 60_000);
