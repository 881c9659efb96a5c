// Tests what plan, explain and sync report about memberships and attribute definitions that others changed at the platform.
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';
import { scimPatch } from '../support/reconciling.ts';
import { send } from '../support/send.ts';

const PEOPLE = ['ann', 'ben', 'cho'].map((name) => `${name}@acme.example`);
const [ANN = '', BEN = '', CHO = ''] = PEOPLE;

const ids: string[] = [];
let north: string;
let place: Place;
beforeAll(async () => {
  const country = { type: 'string', from: 'addresses[type eq "work"].country' };
  place = await openPlace({ target: { attributes: { country } } });
  const addresses = [{ type: 'work', country: 'PT' }];
  for (const name of PEOPLE) ids.push(await place.idp.createUser(name, { addresses }));
  north = await place.idp.createGroup('north', ids.slice(0, 2));
  await place.idp.createGroup('secret', ids.slice(0, 1));
  await place.idle();
  await run(place, 'reconcile', '--yes');
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const asAdmin = (method: 'POST' | 'PATCH' | 'DELETE' | 'GET', path: string, body?: object) =>
  send(place.sandbox.ready.platformUrl, method, path, {
    headers: {
      authorization: `Bearer ${place.sandbox.ready.fixtures.apiKeys.admin}`,
      'content-type': 'application/json',
    },
    body,
  });
async function changeMembers(group: string, op: 'add' | 'remove'): Promise<void> {
  const { groups } = await place.platform.state();
  const scimId = (await place.platform.user(BEN))?.scimId;
  const path = `/api/scim/v2/Groups/${groups.find(({ displayName }) => displayName === group)?.scimId}`;
  const change =
    op === 'add'
      ? { op, path: 'members', value: [{ value: scimId }] }
      : { op, path: `members[value eq "${scimId}"]` };
  await asAdmin('PATCH', path, scimPatch(change));
}
const membersOf = async (group: string): Promise<string[]> =>
  (await place.platform.state()).groups.find(({ displayName }) => displayName === group)?.members.sort() ??
  [];
const explained = async (name: string): Promise<string> =>
  (await place.commands.run('explain', name)).text.replaceAll(/\s+/g, ' ');

test('somebody removes a member at the platform → explain and plan report it, and sync of the person adds the member again', async () => {
  await changeMembers('north', 'remove');
  expect(await explained(BEN)).toContain(
    'At the platform, north: member at the source, taken out at the platform.',
  );
  expect((await place.commands.run('plan')).text).toContain('+ addMember person ben@acme.example in north');
  const { text } = await place.commands.run('sync', BEN, '--dry-run');
  expect(text).toContain('addMember ben@acme.example in north');
  await run(place, 'sync', BEN);
  expect(await membersOf('north')).toEqual([ANN, BEN]);
  expect(await explained(BEN)).toContain('is at main as desired');
}, 30_000);

test('while the target is on hold, somebody removes a member at the platform → plan names the platform as its cause, and the source as the cause of a pushed membership', async () => {
  const push = (op: 'add' | 'remove', index: number) => {
    const value = ids[index];
    return place.idp.patch(
      `/Groups/${north}`,
      op === 'add'
        ? { op, path: 'members', value: [{ value }] }
        : { op, path: `members[value eq "${value}"]` },
    );
  };
  const planned = async (): Promise<string> =>
    (await place.commands.run('plan')).text.replaceAll(/\s+/g, ' ');
  const byOthers =
    'addMember person ben@acme.example in north member at the source, taken out at the platform (platform changed by';
  await changeMembers('north', 'remove');
  await run(place, 'hold');
  expect((await place.commands.run('reconcile', '--yes')).text).toContain('the target was on hold');
  expect(await planned()).toContain(byOthers);
  await push('add', 2);
  const both = await planned();
  expect(both).toContain(byOthers);
  expect(both).toContain('addMember person cho@acme.example in north: member at the source (source changed)');
  expect((await place.commands.run('reconcile', '--yes')).text).toContain('the target was on hold');
  expect(await planned()).toContain(byOthers);
  await push('remove', 1);
  await push('add', 1);
  expect(await planned()).toContain(
    'addMember person ben@acme.example in north: member at the source (source changed)',
  );
  await run(place, 'release');
  await place.idle();
  expect(await membersOf('north')).toEqual([ANN, BEN, CHO]);
  await push('remove', 2);
  await place.idle();
}, 60_000);

test('somebody deletes a group at the platform → explain of a member says that the group is gone, and sync of this member creates it with all members', async () => {
  const { groups } = await place.platform.state();
  const id = groups.find(({ displayName }) => displayName === 'north')?.scimId;
  await asAdmin('DELETE', `/api/scim/v2/Groups/${id}`);
  const told = await explained(BEN);
  expect(told).toContain('is not at main as desired, read just now');
  expect(told).toContain(
    'At the platform, north: the group is gone at the platform, or not shown there yet:',
  );
  const { text } = await place.commands.run('sync', BEN, '--dry-run');
  expect(text).toMatch(/create north \(the group is gone at the platform[^)]*; it is made\)/);
  expect(text).toContain(
    'addMember ben@acme.example in north (member at the source; the group is made with all its 2 members)',
  );
  expect((await place.commands.run('sync', BEN)).text).toMatch(
    /north {2}create[^]*north {2}addMembers {2}2 members/,
  );
  expect(await membersOf('north')).toEqual([ANN, BEN]);
  expect(await explained(BEN)).toContain('is at main as desired: active, in 1 group.');
}, 30_000);

/** Renames the third person at the source. */
const rename = (value: string) =>
  place.idp.patch(`/Users/${ids[2]}`, { op: 'replace', path: 'userName', value });

test('a person is renamed to the userName of another account → plan shows the rename as a conflict, with both userNames', async () => {
  const taken = 'taken@acme.example';
  const other = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: taken, active: true };
  await asAdmin('POST', '/api/scim/v2/Users', { ...other, emails: [{ value: taken, primary: true }] });
  await rename(taken);
  await place.idle();
  expect((await place.commands.run('plan')).text).toContain(
    `User ${CHO}, to be ${taken}: conflict, Conflict: userName is already taken`,
  );
}, 30_000);

test('the platform refuses a rename that the source then takes back → status exits 0, and mentions the dead letter only in the line of the last reconcile', async () => {
  await place.commands.run('reconcile', '--yes');
  await rename(CHO);
  await place.idle();
  const { code, text } = await place.commands.run('status');
  expect(text).toMatch(/last reconcile \S+: blocked, 1 dead letter$/m);
  expect(code).toBe(0);
}, 30_000);

test('while the target is on hold, a person gets the userName of an unmanaged account → plan and sync --dry-run report this before the platform refuses the rename', async () => {
  const [, , id = ''] = ids;
  await place.commands.run('hold', '--note', 'maintenance');
  await rename('taken@acme.example');
  const plan = (await place.commands.run('plan')).text;
  expect(plan).toContain('conflict, userName is already taken by an account that the bridge does not manage');
  expect(plan).not.toContain('~ update user');
  const dry = (await place.commands.run('sync', `User:${id}`, '--dry-run')).text;
  expect(dry).toContain('nothing would be written');
  expect(dry).toContain('(userName is already taken by an account that the bridge does not manage');
  await rename(CHO);
  await place.commands.run('release', '--note', 'done');
  await place.idle();
}, 30_000);

test('a member whom somebody added at the platform stays, and explain of the person and of the group reports the addition', async () => {
  await changeMembers('secret', 'add');
  const told = await explained(BEN);
  expect(told).toContain('is at main as desired');
  expect(told).toContain(
    'in 1 group more, which the bridge does not manage through this connection now and leaves: secret',
  );
  expect(await explained('secret')).toContain(
    'it has 1 member more, which the bridge does not manage through this connection now and leaves: ben@acme.example',
  );
  const group = await asAdmin('POST', '/api/scim/v2/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: 'made there',
    members: [{ value: (await place.platform.user(BEN))?.scimId }],
  });
  expect(group.status).toBe(201);
  expect(await explained(BEN)).toContain(
    'in 2 groups more, which the bridge does not manage through this connection now and leaves: secret, made there',
  );
}, 30_000);

test('somebody empties a group of 30 members at the platform → explain of one member reads the group once, and no account of another member', async () => {
  const joining: string[] = [];
  for (let n = 0; n < 30; n++) joining.push(await place.idp.createUser(`crowd${n}@acme.example`));
  await place.idp.createGroup('crowd', joining);
  await place.idle();
  const { groups } = await place.platform.state();
  const crowd = groups.find(({ displayName }) => displayName === 'crowd');
  await asAdmin(
    'PATCH',
    `/api/scim/v2/Groups/${crowd?.scimId}`,
    scimPatch({ op: 'remove', path: 'members' }),
  );
  await expect(membersOf('crowd')).resolves.toEqual([]);
  await place.platform.forgetRequests();
  expect(await explained('crowd7@acme.example')).toContain('At the platform, crowd: member at the source');
  const reads = (await place.platform.requests()).map(({ path }) => path);
  expect(reads.filter((path) => path.includes(`/Groups/${crowd?.scimId}`))).toHaveLength(1);
  expect(reads.filter((path) => path.includes('/scim/v2/Users/'))).toHaveLength(1);
  await run(place, 'reconcile', '--yes');
  await expect(membersOf('crowd')).resolves.toHaveLength(30);
}, 60_000);

test('an attribute definition is deleted at the platform → plan lists every lost value of the attribute, and reconcile writes these values', async () => {
  const { body } = await asAdmin('GET', '/api/v1/user-attributes');
  const definition = body.items.find(({ name }: { name: string }) => name === 'country');
  await asAdmin('DELETE', `/api/v1/user-attributes/${definition.id}`);
  const { text } = await place.commands.run('plan');
  expect(text).toContain('1 attribute definition to create, 3 attributes to set');
  expect(text).toContain('the platform does not define the attribute any more (platform changed)');
  expect(text).not.toContain('did not stick');
  await run(place, 'reconcile', '--yes');
  const { users } = await place.platform.state();
  const countries = users
    .filter(({ userName }) => PEOPLE.includes(userName))
    .map((each) => each.attributes.country);
  expect(countries).toEqual(['PT', 'PT', 'PT']);
}, 60_000);
