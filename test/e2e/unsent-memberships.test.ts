// Tests memberships that the source takes back before the bridge sent them to the platform, because the person waits for a held
// removal from another group.
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const EVE = 'eve@acme.example';
const BOB = 'bob@acme.example';
const JOE = 'joe@acme.example';
const PAT = 'pat@acme.example';

const NONE = { count: 0, percent: 0 };

let place: Place;
/** Ids of the two persons whose removals from Finance are held, of a group that waits for both, and of its written member. */
let eve: string;
let pat: string;
let sales: string;
let bob: string;

beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE, removeMembers: NONE } } });
  const { idp } = place;
  eve = await idp.createUser(EVE);
  pat = await idp.createUser(PAT);
  bob = await idp.createUser(BOB);
  const finance = await idp.createGroup('Finance', [eve, pat]);
  await place.idle();
  for (const id of [eve, pat])
    await idp.patch(`/Groups/${finance}`, { op: 'remove', path: `members[value eq "${id}"]` });
  await place.idle();
  sales = await idp.createGroup('Sales', [bob, eve, pat]);
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

const removals = async () => {
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  return approval.kinds.removeMembers;
};

test('the source removes a member whose addition was never sent → nothing is held, and no command reports a change by hand', async () => {
  await place.idp.patch(`/Groups/${sales}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await place.idle();
  expect(await removals()).toBe(2);
  const told = [];
  for (const words of [['explain', 'Sales'], ['explain', EVE], ['plan'], ['sync', 'Sales'], ['log']])
    told.push((await place.commands.run(...words)).text);
  expect(told.join('\n')).not.toMatch(/by hand|somebody else/);
  expect(told[0]).toContain('(2 desired, 1 to add, 0 to remove)');
});

test('a reconcile finds a membership whose addition was never sent, and the source removes the member → only the two sent memberships have held removals', async () => {
  const { commands, idp, platform } = place;
  await commands.run('reconcile', '--yes');
  await commands.run('sync', 'Sales');
  await idp.patch(`/Groups/${sales}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await place.idle();
  expect(await removals()).toBe(2);
  const [{ id }] = (await commands.run('approvals', 'list', '--json')).json;
  await commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  expect((await platform.group('Sales'))?.members.toSorted()).toEqual([BOB, PAT]);
  expect((await commands.run('plan')).code).toBe(0);
});

test('the deactivation of a deleted person is held whose addition to a group was never sent → no removal from this group is pending', async () => {
  await place.idp.send('DELETE', `/Users/${eve}`);
  await place.idle();
  const { text } = await place.commands.run('explain', 'Sales');
  expect(text).toContain('(2 desired, 1 to add, 0 to remove)');
});

test('the source deletes a group, one of whose additions was never sent → the guard holds the deletion and the removal of the written member', async () => {
  await place.idp.send('DELETE', `/Groups/${sales}`);
  await place.idle();
  expect(await removals()).toBe(3);
});

test('a held removal is made by hand while another addition still waits → explain does not call the group as desired', async () => {
  const { commands, idp, platform } = place;
  await idp.patch(`/Groups/${sales}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.idle();
  const [group, user] = [await platform.group('Sales'), await platform.user(BOB)];
  await byHand(place, 'PATCH', `/Groups/${group?.scimId}`, {
    op: 'remove',
    path: `members[value eq "${user?.scimId}"]`,
  });
  const { text } = await commands.run('explain', 'Sales', '--all');
  expect(text).not.toContain('as the source wants it');
  expect(text).toMatch(/1 change of these is done at the\s+platform already: the next/);
});

test('the source adds and removes a person who is already a member of an adopted group → the guard holds the removal', async () => {
  const { idp, platform } = place;
  const user = await platform.user(EVE);
  const member = [{ value: user?.scimId }];
  const { platformUrl, fixtures } = place.sandbox.ready;
  const made = await fetch(`${platformUrl}/api/scim/v2/Groups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Support',
    }),
  });
  expect(made.ok).toBe(true);
  const group = await platform.group('Support');
  await byHand(place, 'PATCH', `/Groups/${group?.scimId}`, { op: 'add', path: 'members', value: member });
  const support = await idp.createGroup('Support', []);
  await place.idle();
  await idp.patch(`/Groups/${support}`, { op: 'add', path: 'members', value: [{ value: eve }] });
  await place.idle();
  await idp.patch(`/Groups/${support}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await place.idle();
  expect(await removals()).toBe(3);
});

test('the source removes a member whose addition was sent and never answered → the guard holds the removal', async () => {
  const { idp, platform } = place;
  const joe = await idp.createUser(JOE);
  await place.idle();
  await platform.control('PATCH', '/faults', { status5xx: { share: 1, status: 503, afterCommit: true } });
  await idp.patch(`/Groups/${sales}`, { op: 'add', path: 'members', value: [{ value: joe }] });
  const isMember = async () => (await platform.user(JOE))?.groups.includes('Sales');
  await eventually('the platform has the member', isMember);
  await idp.patch(`/Groups/${sales}`, { op: 'remove', path: `members[value eq "${joe}"]` });
  await platform.control('PATCH', '/faults', {});
  await eventually('the removal is held', async () => (await removals()) === 3);
  expect(await isMember()).toBe(true);
});

test('the platform refuses an addition and the source removes the member again → nothing is held, and explain reports no change by hand', async () => {
  const { commands, idp, platform } = place;
  const joe = await idp.createUser(JOE);
  await place.idle();
  const rules = [{ method: 'PATCH', path: 'scim/v2/Groups', times: 9, status5xx: { share: 1, status: 400 } }];
  await platform.control('PATCH', '/faults', { rules });
  await idp.patch(`/Groups/${sales}`, { op: 'add', path: 'members', value: [{ value: joe }] });
  await place.idle();
  expect((await commands.run('status')).text).toContain('1 dead letter');
  await idp.patch(`/Groups/${sales}`, { op: 'remove', path: `members[value eq "${joe}"]` });
  await platform.control('PATCH', '/faults', {});
  await place.idle();
  expect(await removals()).toBe(2);
  expect((await platform.user(JOE))?.groups).not.toContain('Sales');
  for (const words of [
    ['explain', 'Sales'],
    ['explain', JOE],
  ])
    expect((await commands.run(...words)).text).not.toMatch(/by hand|somebody else/);
});

test("an addition failed and then the deactivation of the deleted person is held → plan says that the person is not in the group, and reconcile ends the group's exception", async () => {
  const { commands, idp, platform } = place;
  const joe = await idp.createUser(JOE);
  const quay = await idp.createGroup('Quay', [bob]);
  await place.idle();
  await platform.forgetRequests();
  const rules = [
    { method: 'PATCH', path: 'scim/v2/Groups', times: 99, status5xx: { share: 1, status: 503 } },
  ];
  await platform.control('PATCH', '/faults', { rules });
  await idp.patch(`/Groups/${quay}`, { op: 'add', path: 'members', value: [{ value: joe }] });
  await eventually('the addition is sent', async () =>
    (await platform.writes()).some(({ status }) => status === 503),
  );
  await idp.send('DELETE', `/Users/${joe}`);
  await platform.control('PATCH', '/faults', { rules: [] });
  await place.idle();
  const exceptions = async (): Promise<string> => (await commands.run('exceptions')).text;
  expect(await exceptions()).toContain('Group Quay');
  expect((await commands.run('plan')).text).toMatch(
    /Group Quay: held .* 1 member whose removal is decided with the account is not in the group at the platform: the next reconcile, or scim-bridge sync,/,
  );
  const explained = async (name: string): Promise<string> =>
    (await commands.run('explain', name)).text.replaceAll(/\s+/g, ' ');
  const [ofGroup, ofPerson] = [await explained('Quay'), await explained(JOE)];
  expect(ofGroup).toContain('Quay is at main as desired, with 1 member');
  expect(ofGroup).toContain(`the next reconcile, or scim-bridge sync Group:${quay}, takes it off`);
  expect(ofGroup).not.toMatch(/to be removed|leaves with the account|approvals show/);
  expect(ofPerson).toContain('At the platform it is not in Quay: the next reconcile takes this removal');
  for (const text of [ofGroup, ofPerson]) expect(text).not.toMatch(/by hand|somebody else/);
  await commands.run('hold');
  expect(await explained('Quay')).toContain(
    `It is still on the list of exceptions: after the end of the hold of main, the next reconcile, or scim-bridge sync Group:${quay}, takes it off.`,
  );
  await commands.run('release');
  await commands.run('reconcile', '--yes');
  await place.idle();
  expect(await exceptions()).not.toContain('Group Quay');
  expect(await exceptions()).toContain(JOE);
}, 60_000);
