// Tests that plan, explain and log name members, where a name is known, in place of their ids.
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { scimPatch } from '../support/reconciling.ts';
import { run } from '../support/situation-table.ts';
import { send } from '../support/send.ts';

const NAMES = ['ann', 'ben', 'cho', 'dan', 'eve', 'fay'].map((name) => `${name}@acme.example`);
const [ANN = ''] = NAMES;
const STRANGER = 'stranger@acme.example';
const ids: string[] = [];
let place: Place;
beforeAll(async () => {
  place = await openPlace({});
  for (const name of NAMES) ids.push(await place.idp.createUser(name));
  await place.idle();
  await place.idp.createGroup('north', ids);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);

test('six members are added to a group → log names five and counts the sixth', async () => {
  const text = await told('log', '--resource', 'north', '--action', 'addMembers');
  const [, named = ''] = /6 members: (.*?) and 1 more/.exec(text) ?? [];
  expect(named.split(', ')).toHaveLength(5);
  for (const name of named.split(', ')) expect(NAMES).toContain(name);
}, 30_000);

test('an added member was deleted since → log names the member, from the stored link', async () => {
  await place.idp.send('DELETE', `/Users/${ids[0]}`);
  await place.idle();
  expect(await told('log', '--resource', 'north', '--action', 'removeMembers')).toContain(`1 member: ${ANN}`);
}, 30_000);

test('log notes at entries about members, but not at the creation of a group, that it shows present names', async () => {
  const caveat = 'Members have their present names';
  expect(await told('log', '--resource', 'north', '--action', 'addMembers')).toContain(caveat);
  expect(await told('log', '--resource', 'north', '--action', 'create')).not.toContain(caveat);
}, 30_000);

test('the member list shows an unmanaged member under another name → plan names this member by userName', async () => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const asAdmin = (method: 'POST' | 'PATCH', path: string, body: object) =>
    send(platformUrl, method, path, {
      headers: {
        authorization: `Bearer ${fixtures.apiKeys.admin}`,
        'content-type': 'application/scim+json',
      },
      body,
    });
  const made = await asAdmin('POST', '/api/scim/v2/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: STRANGER,
    displayName: 'Sam',
    active: true,
    emails: [{ value: STRANGER, primary: true }],
  });
  const { groups } = await place.platform.state();
  const north = groups.find(({ displayName }) => displayName === 'north')?.scimId;
  const value = [{ value: made.body.id }];
  await asAdmin('PATCH', `/api/scim/v2/Groups/${north}`, scimPatch({ op: 'add', path: 'members', value }));
  expect(await told('plan', '--full')).toContain(`${STRANGER} in north`);
}, 30_000);

test('explain of a group names a member who was never synced by the pushed userName', async () => {
  await run(place, 'hold');
  const gus = await place.idp.createUser('gus@acme.example');
  await place.idp.createGroup('south', [gus]);
  const text = await told('explain', 'south', '--all');
  expect(text).toContain('gus@acme.example');
  expect(text).not.toContain(gus);
}, 30_000);

test('a member is renamed and a new person gets the former userName → plan, sync --dry-run and explain of a group name each by the userName at the source', async () => {
  const [, ben = '', cho = ''] = ids;
  const west = await place.idp.createGroup('west', [ben, cho]);
  const east = await place.idp.createGroup('east', [ben]);
  await run(place, 'release');
  await place.idle();
  await run(place, 'hold');
  await place.idp.patch(
    `/Users/${ben}`,
    { op: 'replace', path: 'userName', value: 'ben.new@acme.example' },
    { op: 'replace', path: 'externalId', value: 'ext-ben-new' },
  );
  const hire = await place.idp.createUser('ben@acme.example');
  await place.idp.patch(
    `/Groups/${west}`,
    { op: 'add', path: 'members', value: [{ value: hire }] },
    { op: 'remove', path: `members[value eq "${ben}"]` },
  );
  const { scimId: account = '' } = (await place.platform.user('ben@acme.example')) ?? {};
  const { scimId: eastThere = '' } = (await place.platform.group('east')) ?? {};
  await byHand(place, 'PATCH', `/Groups/${eastThere}`, {
    op: 'remove',
    path: `members[value eq "${account}"]`,
  });
  const plan = await told('plan');
  expect(plan).toContain('removeMember person ben.new@acme.example in west');
  expect(plan).toContain('addMember person ben@acme.example in west');
  expect(plan).toContain('addMember person ben.new@acme.example in east');
  const inWest = await told('sync', `Group:${west}`, '--dry-run');
  expect(inWest).toContain('removeMember ben.new@acme.example in west');
  expect(inWest).toContain('addMember ben@acme.example in west');
  for (const ref of [`Group:${east}`, `User:${ben}`])
    expect(await told('sync', ref, '--dry-run')).toContain('addMember ben.new@acme.example in east');
  const explained = await told('explain', 'west');
  expect(explained).toContain('- ben.new@acme.example');
  expect(explained).toContain('At the platform, ben.new@acme.example: no member at the source any more');
  expect(explained).toContain('+ ben@acme.example (has no account at the target yet)');
}, 60_000);
