// Tests SCIM users from creation to deletion (contract 2.1, 2.2, 2.6, 2.7).
import { GROUPS, PATCH_OP, startRig, USERS, type Rig } from './rig.ts';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

test('SCIM-17 POST of a user answers 201 with id, meta and Location', async () => {
  const { status, headers, body } = await rig.post(USERS, { userName: 'Jane@acme.example' });
  expect(status).toBe(201);
  expect(body).toMatchObject({ userName: 'Jane@acme.example', active: true, meta: { resourceType: 'User' } });
  expect(body.id).toMatch(/^[0-9a-f-]{36}$/);
  expect([headers['location'], body.meta.location]).toEqual(
    Array(2).fill(`${rig.ready.platformUrl}${USERS}/${body.id}`),
  );
});

test('SCIM-18 POST without a userName that is text answers 400 invalidValue', async () => {
  for (const body of [{}, { userName: '' }, { userName: 7 }]) {
    expect((await rig.post(USERS, body)).body).toMatchObject({ status: '400', scimType: 'invalidValue' });
  }
});

test('SCIM-19 POST of a taken userName in any letter case answers 409 uniqueness', async () => {
  await rig.user('jane@acme.example');
  const { status, body } = await rig.post(USERS, { userName: 'JANE@acme.example' });
  expect([status, body.scimType]).toEqual([409, 'uniqueness']);
});

test('SCIM-20 a body of type application/scim+json is accepted, and an answer has this type when Accept names it', async () => {
  const headers = { 'content-type': 'application/scim+json', accept: 'application/scim+json' };
  const answer = await rig.call('POST', USERS, { body: { userName: 'a@acme.example' }, headers });
  expect(answer.status).toBe(201);
  expect(answer.headers['content-type']).toContain('application/scim+json');
});

test('SCIM-21 firstName of the platform user is displayName, or without it the parts of name', async () => {
  const name = { givenName: 'Jane', familyName: 'Doe' };
  await rig.user('a@acme.example', { displayName: 'Janey', name });
  await rig.user('b@acme.example', { name });
  expect([
    (await rig.stored('a@acme.example')).firstName,
    (await rig.stored('b@acme.example')).firstName,
  ]).toEqual(['Janey', 'Jane Doe']);
});

test('SCIM-22 a user without e-mails gets the userName as e-mail, and one with several the primary one', async () => {
  await rig.user('a@acme.example');
  const emails = [{ value: 'x@acme.example' }, { value: 'y@acme.example', primary: true }];
  await rig.user('b@acme.example', { emails });
  expect((await rig.stored('a@acme.example')).email).toBe('a@acme.example');
  expect((await rig.stored('b@acme.example')).email).toBe('y@acme.example');
});

test('SCIM-23 GET of a user lists its groups, and groups in a POST are ignored', async () => {
  const user = await rig.user('a@acme.example', { groups: [{ value: 'forged' }] });
  await rig.group('one', [user]);
  await rig.group('two', [user]);
  const { body } = await rig.call('GET', `${USERS}/${user.id}`);
  expect(body.groups.map((group: { display: string }) => group.display)).toEqual(['one', 'two']);
});

test('SCIM-24 the platform user of a SCIM user has an alias with the source scim', async () => {
  await rig.user('a@acme.example');
  const { body } = await rig.call('GET', '/api/v1/users?search=a@acme.example');
  expect(body.items[0].aliases).toMatchObject([{ source: 'scim', username: 'a@acme.example' }]);
});

test('SCIM-25 id and meta in a POST are ignored', async () => {
  const user = await rig.user('a@acme.example', { id: 'mine', meta: { created: 'long ago' } });
  expect(user.id).not.toBe('mine');
  expect(user.meta.created).not.toBe('long ago');
});

test('SCIM-26 externalId is stored and returned', async () => {
  const user = await rig.user('a@acme.example', { externalId: 'ext-1' });
  expect((await rig.call('GET', `${USERS}/${user.id}`)).body.externalId).toBe('ext-1');
});

test('SCIM-27 and SCIM-28 a user without active is created active, and with active false deactivated', async () => {
  await rig.user('a@acme.example');
  await rig.user('b@acme.example', { active: false });
  expect((await rig.stored('a@acme.example')).active).toBe(true);
  const { body } = await rig.call('GET', '/api/v1/users?search=b@acme');
  expect(body.items[0].isDeactivated).toBe(true);
});

test('SCIM-29 and SCIM-30 a changed default role is given to new users, and not to present ones', async () => {
  const user = await rig.user('a@acme.example');
  await rig.control('PATCH', '/settings', { defaultRole: 'Explorer' });
  await rig.patch(`${USERS}/${user.id}`, { op: 'replace', path: 'displayName', value: 'A' });
  await rig.user('b@acme.example');
  expect((await rig.stored('a@acme.example')).roles).toEqual(['Viewer']);
  expect((await rig.stored('b@acme.example')).roles).toEqual(['Explorer']);
});

test('SCIM-31 with a default role that does not exist, new users get the role Viewer', async () => {
  await rig.control('PATCH', '/settings', { defaultRole: 'Gone' });
  await rig.user('a@acme.example');
  expect((await rig.stored('a@acme.example')).roles).toEqual(['Viewer']);
});

test('SCIM-32 GET of a user answers 200, and of an unknown user 404 with the status as text', async () => {
  const user = await rig.user('a@acme.example');
  expect((await rig.call('GET', `${USERS}/${user.id}`)).status).toBe(200);
  const { status, body } = await rig.call('GET', `${USERS}/unknown`);
  expect([status, body.status]).toEqual([404, '404']);
});

test('SCIM-33 PUT replaces the core attributes and keeps groups and roles; PUT of an unknown user answers 404', async () => {
  const user = await rig.user('a@acme.example', {
    externalId: 'x',
    displayName: 'A',
    name: { givenName: 'A' },
  });
  await rig.group('keepers', [user]);
  const { status, body } = await rig.call('PUT', `${USERS}/${user.id}`, {
    body: { userName: 'b@acme.example' },
  });
  expect([status, body.userName, body.externalId, body.displayName, body.name]).toEqual([
    200,
    'b@acme.example',
    ...Array(3),
  ]);
  expect(await rig.stored('b@acme.example')).toMatchObject({ groups: ['keepers'], roles: ['Viewer'] });
  expect((await rig.call('PUT', `${USERS}/unknown`, { body: { userName: 'c' } })).status).toBe(404);
});

test('SCIM-34 PUT without active keeps a deactivated user inactive', async () => {
  const user = await rig.user('a@acme.example', { active: false });
  const { body } = await rig.call('PUT', `${USERS}/${user.id}`, { body: { userName: 'a@acme.example' } });
  expect(body.active).toBe(false);
});

test('SCIM-35, SCIM-36 and SCIM-37 PATCH sets active, also with the text "False" and with op in any letter case', async () => {
  const user = await rig.user('a@acme.example');
  const path = `${USERS}/${user.id}`;
  const off = await rig.patch(path, { op: 'replace', path: 'active', value: false });
  expect([off.status, off.body.active]).toEqual([200, false]);
  expect((await rig.patch(path, { op: 'Replace', path: 'active', value: 'True' })).body.active).toBe(true);
  expect((await rig.patch(path, { op: 'ADD', path: 'active', value: 'False' })).body.active).toBe(false);
  expect((await rig.patch(path, { op: 'replace', path: 'active', value: 'maybe' })).body.scimType).toBe(
    'invalidValue',
  );
});

test('SCIM-38 PATCH without a path applies the attributes in its value', async () => {
  const user = await rig.user('a@acme.example');
  const value = { active: false, name: { givenName: 'A', familyName: 'B' }, unknown: 1 };
  const { body } = await rig.patch(`${USERS}/${user.id}`, { op: 'replace', value });
  expect(body).toMatchObject({ active: false, name: { givenName: 'A', familyName: 'B' } });
});

test('SCIM-39 PATCH without the PatchOp schema or without operations answers 400 invalidSyntax', async () => {
  const user = await rig.user('a@acme.example');
  const operations = [{ op: 'replace', path: 'active', value: false }];
  for (const body of [
    { Operations: operations },
    { schemas: [PATCH_OP], Operations: [] },
    { schemas: [PATCH_OP] },
  ]) {
    const answer = await rig.call('PATCH', `${USERS}/${user.id}`, { body });
    expect(answer.body).toMatchObject({ status: '400', scimType: 'invalidSyntax' });
  }
});

test('SCIM-40 PATCH with an invalid path answers 400 invalidPath and applies none of its operations', async () => {
  const user = await rig.user('a@acme.example');
  const path = `${USERS}/${user.id}`;
  for (const bad of ['nickName', 'constructor', 'emails[value sw "x"].value', 'urn:other:thing']) {
    const good = { op: 'replace', path: 'active', value: false };
    const { body } = await rig.patch(path, good, { op: 'replace', path: bad, value: 'x' });
    expect(body).toMatchObject({ status: '400', scimType: 'invalidPath' });
  }
  expect((await rig.stored('a@acme.example')).active).toBe(true);
  expect((await rig.patch(path, { op: 'replace', path: 'id', value: 'x' })).body.scimType).toBe('mutability');
  expect((await rig.patch(path, { op: 'remove' })).body.scimType).toBe('noTarget');
});

test('SCIM-40 PATCH replaces an e-mail selected by a value filter, and adds one if op is add and none matches', async () => {
  const user = await rig.user('a@acme.example', {
    emails: [{ value: 'w@acme.example', type: 'work', primary: true }],
  });
  const path = `${USERS}/${user.id}`;
  const set = (target: string, op = 'replace') =>
    rig.patch(path, { op, path: target, value: 'n@acme.example' });
  expect((await set('emails[type eq "work"].value')).body.emails[0].value).toBe('n@acme.example');
  expect((await set('emails[primary eq true].value')).status).toBe(200);
  expect((await set('emails[type eq "home"].value')).body.scimType).toBe('noTarget');
  expect((await set('emails[type eq "home"].value', 'add')).body.emails).toHaveLength(2);
  expect((await rig.stored('a@acme.example')).email).toBe('n@acme.example');
});

test('SCIM-41 PATCH of userName to a taken name answers 409 uniqueness, and to a free name 200', async () => {
  const user = await rig.user('a@acme.example');
  const rename = (value: string) =>
    rig.patch(`${USERS}/${user.id}`, { op: 'replace', path: 'userName', value });
  expect((await rename('Viewer@acme.example')).body.scimType).toBe('uniqueness');
  expect((await rename('A@acme.example')).body.userName).toBe('A@acme.example');
  expect((await rename('new@acme.example')).status).toBe(200);
  expect((await rig.post(USERS, { userName: 'a@acme.example' })).status).toBe(201);
});

test('SCIM-42 DELETE of a user answers 204, and a second DELETE 404', async () => {
  const user = await rig.user('a@acme.example');
  expect((await rig.call('DELETE', `${USERS}/${user.id}`)).status).toBe(204);
  expect((await rig.call('DELETE', `${USERS}/${user.id}`)).status).toBe(404);
});

test('SCIM-43 a deleted user is in no group, and a POST with the same userName gets new ids', async () => {
  const user = await rig.user('a@acme.example');
  const group = await rig.group('analysts', [user]);
  const before = await rig.stored('a@acme.example');
  await rig.call('DELETE', `${USERS}/${user.id}`);
  expect((await rig.call('GET', `${GROUPS}/${group.id}`)).body.members).toEqual([]);
  await rig.user('a@acme.example');
  const after = await rig.stored('a@acme.example');
  expect(after).toMatchObject({ groups: [], attributes: {} });
  expect(after.id).toBeGreaterThan(before.id);
  expect(after.scimId).not.toBe(before.scimId);
});

test('SCIM-44 and SCIM-45 an API key answers 401 while its owner is deactivated, and 200 after reactivation', async () => {
  const { scimId } = await rig.stored('viewer@acme.example');
  const setActive = (value: boolean) =>
    rig.patch(`${USERS}/${scimId}`, { op: 'replace', path: 'active', value });
  const key = rig.key('viewer');
  await setActive(false);
  expect((await rig.call('GET', '/api/v1/users/me', { key })).status).toBe(401);
  await setActive(true);
  expect((await rig.call('GET', '/api/v1/users/me', { key })).status).toBe(200);
});

test('SCIM-46 deactivating or deleting the last active administrator answers 403', async () => {
  const { scimId } = await rig.stored('admin@acme.example');
  const off = () => rig.patch(`${USERS}/${scimId}`, { op: 'replace', path: 'active', value: false });
  expect((await off()).body).toMatchObject({ status: '403' });
  expect((await rig.call('DELETE', `${USERS}/${scimId}`)).status).toBe(403);
  await rig.control('POST', '/fixtures', { users: [{ userName: 'second@acme.example', isAdmin: true }] });
  expect((await off()).status).toBe(200);
});

test('creating, changing and deleting a user by SCIM each add an audit event under the name of the caller', async () => {
  const user = await rig.user('a@acme.example');
  await rig.patch(`${USERS}/${user.id}`, { op: 'replace', path: 'active', value: false });
  await rig.call('DELETE', `${USERS}/${user.id}`);
  const { auditEvents } = await rig.state();
  expect(auditEvents.map((event: { eventName: string }) => event.eventName)).toEqual([
    'Created user via SCIM',
    'Updated user via SCIM',
    'Deleted user via SCIM',
  ]);
  expect(auditEvents[0]).toMatchObject({
    userEmail: 'admin@acme.example',
    attributes: { userName: 'a@acme.example' },
  });
});

test('SCIM-66 ServiceProviderConfig, ResourceTypes and the schema of the extension list features, types and attributes', async () => {
  const config = await rig.call('GET', '/api/scim/v2/ServiceProviderConfig');
  expect(config.body).toMatchObject({ patch: { supported: true }, bulk: { supported: false } });
  const types = await rig.call('GET', '/api/scim/v2/ResourceTypes');
  expect(types.body.Resources.map((type: { id: string }) => type.id)).toEqual(['User', 'Group']);
  await rig.attribute('clearance', 'number');
  const schema = await rig.call('GET', '/api/scim/v2/Schemas/urn:cube:params:1.0:UserAttribute');
  expect(schema.body.attributes.map((one: { name: string }) => one.name)).toEqual(['country', 'clearance']);
});

test('SCIM-67 with SCIM switched off, or not in the subscription, a SCIM request answers 403', async () => {
  await rig.control('PATCH', '/settings', { scimEnabled: false });
  expect((await rig.call('GET', USERS)).body).toMatchObject({ status: '403' });
  await rig.control('PATCH', '/settings', { scimEnabled: true, plan: { scim: false } });
  expect((await rig.call('GET', USERS)).status).toBe(403);
});
