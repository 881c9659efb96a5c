// Tests SCIM groups and the roles that they give (contract 2.3, 2.6 and 12.6).
import { GROUPS, startRig, type Rig } from './rig.ts';

interface Resource {
  id: string;
}
let rig: Rig;
let ann: Resource;
let ben: Resource;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(async () => {
  await rig.reset();
  ann = await rig.user('ann@acme.example');
  ben = await rig.user('ben@acme.example');
});
afterAll(() => rig.stop());

const membersOf = async (name: string) => (await rig.storedGroup(name)).members;
const rolesOf = async (name: string) => (await rig.stored(`${name}@acme.example`)).roles;
const map = (groupsRolesMap: object) => rig.control('PATCH', '/settings', { groupsRolesMap });
const add = (group: Resource, ...users: Resource[]) =>
  rig.patch(`${GROUPS}/${group.id}`, {
    op: 'add',
    path: 'members',
    value: users.map(({ id }) => ({ value: id })),
  });

test('SCIM-47 POST of a group answers 201, and with a taken displayName in any letter case 409 uniqueness', async () => {
  const { status, headers, body } = await rig.post(GROUPS, { displayName: 'Analysts', externalId: 'g1' });
  expect([status, headers['location'], body.externalId]).toEqual([201, body.meta.location, 'g1']);
  const again = await rig.post(GROUPS, { displayName: 'ANALYSTS' });
  expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness']);
  expect((await rig.post(GROUPS, {})).body.scimType).toBe('invalidValue');
});

test('SCIM-48 POST of a group with members returns these members', async () => {
  const group = await rig.group('analysts', [ann]);
  expect(group.members).toEqual([{ value: ann.id, display: 'ann@acme.example' }]);
});

test('SCIM-49 PUT of a group replaces all its members, and without members removes them', async () => {
  const group = await rig.group('analysts', [ann]);
  const put = (body: object) => rig.call('PUT', `${GROUPS}/${group.id}`, { body });
  expect((await put({ displayName: 'analysts', members: [{ value: ben.id }] })).status).toBe(200);
  expect(await membersOf('analysts')).toEqual(['ben@acme.example']);
  await put({ displayName: 'renamed' });
  expect(await membersOf('renamed')).toEqual([]);
});

test('SCIM-50 PATCH add of a member keeps the other members', async () => {
  const group = await rig.group('analysts');
  await add(group, ann);
  await rig.patch(`${GROUPS}/${group.id}`, { op: 'Add', value: { members: [{ value: ben.id }] } });
  expect(await membersOf('analysts')).toEqual(['ann@acme.example', 'ben@acme.example']);
});

test('SCIM-51 PATCH remove removes a member named by a filter or by a list of values, and without either all members', async () => {
  const group = await rig.group('analysts', [ann, ben]);
  const path = `${GROUPS}/${group.id}`;
  await rig.patch(path, { op: 'remove', path: `members[value eq "${ann.id}"]` });
  expect(await membersOf('analysts')).toEqual(['ben@acme.example']);
  await rig.patch(path, { op: 'Remove', path: 'members', value: [{ value: ben.id }] });
  expect(await membersOf('analysts')).toEqual([]);
  await add(group, ann, ben);
  await rig.patch(path, { op: 'remove', path: 'members' });
  expect(await membersOf('analysts')).toEqual([]);
});

test('SCIM-52 PATCH that adds a present member or removes an absent one answers 200 and changes nothing', async () => {
  const group = await rig.group('analysts', [ann]);
  expect((await add(group, ann)).status).toBe(200);
  for (const id of [ben.id, 'never-existed']) {
    const removed = await rig.patch(`${GROUPS}/${group.id}`, {
      op: 'remove',
      path: `members[value eq "${id}"]`,
    });
    expect(removed.status).toBe(200);
  }
  expect(await membersOf('analysts')).toEqual(['ann@acme.example']);
});

test('SCIM-53 POST and PATCH of a group with an unknown member id answer 400 and apply nothing', async () => {
  const group = await rig.group('analysts', [ann]);
  const rename = { op: 'replace', path: 'displayName', value: 'other' };
  const bad = { op: 'add', path: 'members', value: [{ value: ben.id }, { value: 'nobody' }] };
  expect((await rig.patch(`${GROUPS}/${group.id}`, rename, bad)).body).toMatchObject({
    scimType: 'invalidValue',
  });
  expect(await membersOf('analysts')).toEqual(['ann@acme.example']);
  expect((await rig.post(GROUPS, { displayName: 'x', members: [{ value: group.id }] })).status).toBe(400);
  expect(await rig.storedGroup('x')).toBeUndefined();
});

test('SCIM-53 PATCH add or replace of members without a value answers 400, and replace by null removes all members', async () => {
  const group = await rig.group('analysts', [ann]);
  for (const op of ['add', 'replace']) {
    const { status, body } = await rig.patch(`${GROUPS}/${group.id}`, { op, path: 'members' });
    expect([op, status, body.scimType]).toEqual([op, 400, 'invalidValue']);
  }
  expect(await membersOf('analysts')).toEqual(['ann@acme.example']);
  await rig.patch(`${GROUPS}/${group.id}`, { op: 'replace', path: 'members', value: null });
  expect(await membersOf('analysts')).toEqual([]);
});

test('SCIM-54 DELETE of a group answers 204 and keeps its users', async () => {
  const group = await rig.group('analysts', [ann]);
  expect((await rig.call('DELETE', `${GROUPS}/${group.id}`)).status).toBe(204);
  expect((await rig.call('GET', `${GROUPS}/${group.id}`)).status).toBe(404);
  expect(await rig.stored('ann@acme.example')).toMatchObject({ active: true, groups: [] });
});

test('SCIM-55 a group name that begins with system: in any letter case answers 400 invalidValue', async () => {
  const created = await rig.post(GROUPS, { displayName: 'System:all' });
  expect([created.status, created.body.scimType]).toEqual([400, 'invalidValue']);
  const group = await rig.group('analysts');
  const rename = await rig.patch(`${GROUPS}/${group.id}`, {
    op: 'replace',
    path: 'displayName',
    value: 'system:x',
  });
  expect([rename.status, rename.body.scimType]).toEqual([400, 'invalidValue']);
});

test('PATCH of a group renames it, answers invalidPath to an unknown path and mutability to id, and adds an audit event', async () => {
  const group = await rig.group('analysts');
  const patch = (path: string) =>
    rig.patch(`${GROUPS}/${group.id}`, { op: 'replace', path, value: 'Researchers' });
  expect((await patch('displayName')).body.displayName).toBe('Researchers');
  expect((await patch('description')).body.scimType).toBe('invalidPath');
  expect((await patch('id')).body.scimType).toBe('mutability');
  await rig.call('DELETE', `${GROUPS}/${group.id}`);
  const { auditEvents } = await rig.state();
  const names = auditEvents.map((event: { eventName: string }) => event.eventName);
  expect(names.slice(2)).toEqual([
    'Created group via SCIM',
    'Updated group via SCIM',
    'Deleted group via SCIM',
  ]);
});

test('ROLE-01, ROLE-02 and ROLE-04 a user added to a group with a role mapping gets the role, and an audit event names it', async () => {
  await map({ ANALYSTS: ['explorer'] });
  await add(await rig.group('analysts'), ann);
  expect(await rolesOf('ann')).toEqual(['Viewer', 'Explorer']);
  const { auditEvents } = await rig.state();
  const gifts = auditEvents.filter(
    (event: { eventName: string }) => event.eventName === 'Assigned role to user',
  );
  expect(gifts).toMatchObject([{ attributes: { username: 'ann@acme.example', role: 'Explorer' } }]);
});

test('ROLE-03 and ROLE-05 members that POST or PUT gives to a mapped group get all roles of the group', async () => {
  await map({ finance: ['Finance Reader', 'Explorer'], data: ['Data Steward'] });
  await rig.group('finance', [ann]);
  const data = await rig.group('data');
  const body = { displayName: 'data', members: [{ value: ben.id }] };
  await rig.call('PUT', `${GROUPS}/${data.id}`, { body });
  expect(await rolesOf('ann')).toEqual(['Viewer', 'Finance Reader', 'Explorer']);
  expect(await rolesOf('ben')).toEqual(['Viewer', 'Data Steward']);
});

test('ROLE-06 and ROLE-07 users keep the role of a mapped group after they leave it or it is deleted', async () => {
  await map({ analysts: ['Explorer'] });
  const group = await rig.group('analysts', [ann, ben]);
  await rig.patch(`${GROUPS}/${group.id}`, { op: 'remove', path: `members[value eq "${ann.id}"]` });
  await rig.call('DELETE', `${GROUPS}/${group.id}`);
  expect([await rolesOf('ann'), await rolesOf('ben')]).toEqual(Array(2).fill(['Viewer', 'Explorer']));
});

test('ROLE-08 a role mapping gives a present member no role until the member is removed and added again', async () => {
  const group = await rig.group('analysts', [ann]);
  await map({ analysts: ['Explorer'] });
  await add(group, ann);
  expect(await rolesOf('ann')).toEqual(['Viewer']);
  await rig.patch(`${GROUPS}/${group.id}`, { op: 'remove', path: 'members' });
  await add(group, ann);
  expect(await rolesOf('ann')).toEqual(['Viewer', 'Explorer']);
});

test('ROLE-09 and ROLE-11 in a role mapping an unknown role and Admin have no effect, and other roles are added to Viewer', async () => {
  await map({ analysts: ['No Such Role', 'Admin', 'Data Steward'] });
  const answer = await add(await rig.group('analysts'), ann);
  expect(answer.status).toBe(200);
  expect(await rig.stored('ann@acme.example')).toMatchObject({
    isAdmin: false,
    roles: ['Viewer', 'Data Steward'],
  });
});

test('ROLE-10 setting Admin as the default role answers 400', async () => {
  expect((await rig.control('PATCH', '/settings', { defaultRole: 'Admin' })).status).toBe(400);
});
