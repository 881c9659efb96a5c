// Tests console users, roles, user groups and the list rules (contract 3.3 to 3.5 and 4.0).
import { startRig, USERS as SCIM_USERS, type Rig } from './rig.ts';

const USERS = '/api/v1/users';
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const create = async (name: string, more: object = {}) =>
  (await rig.post(USERS, { email: `${name}@acme.example`, username: `${name}@acme.example`, ...more })).body;
const names = (body: { items: { username: string }[] }) =>
  body.items.map((user) => user.username.split('@')[0]);

test('USER-01 POST of a platform user without email or username answers 400', async () => {
  expect((await rig.post(USERS, { email: 'a@acme.example' })).status).toBe(400);
  expect((await rig.post(USERS, { username: 'a' })).status).toBe(400);
  const user = await create('a', { firstName: 'Ann', defaultRoles: ['Explorer'], isAdmin: true });
  expect(user).toMatchObject({
    id: 4,
    firstName: 'Ann',
    isAdmin: true,
    isDeactivated: false,
    notifications: {},
  });
  expect(await rig.stored('a@acme.example')).toMatchObject({ roles: ['Admin', 'Explorer'] });
  expect((await rig.post(USERS, { email: 'b@b.b', username: 'b', defaultRoles: ['Nope'] })).status).toBe(400);
});

test('USER-02 POST of a platform user with a taken username in any letter case answers 409', async () => {
  const answer = await rig.post(USERS, { email: 'x@acme.example', username: 'VIEWER@acme.example' });
  expect(answer.status).toBe(409);
});

test('USER-03 PUT of a platform user changes only the fields sent, and never username and e-mail', async () => {
  const { id } = await create('a', { firstName: 'Ann' });
  const { body } = await rig.call('PUT', `${USERS}/${id}`, {
    body: { isDeactivated: true, username: 'x', email: 'y' },
  });
  expect(body).toMatchObject({
    isDeactivated: true,
    firstName: 'Ann',
    username: 'a@acme.example',
    email: 'a@acme.example',
  });
  expect((await rig.call('PUT', `${USERS}/99`, { body: {} })).status).toBe(404);
  expect((await rig.call('PUT', `${USERS}/abc`, { body: {} })).status).toBe(400);
});

test('USER-04 DELETE of a platform user answers 200, and a second DELETE 404', async () => {
  const { id } = await create('a');
  expect((await rig.call('DELETE', `${USERS}/${id}`)).status).toBe(200);
  expect((await rig.call('DELETE', `${USERS}/${id}`)).status).toBe(404);
});

test('USER-05 a platform user who deletes the own account gets 400, and one who deactivates it 403', async () => {
  await create('second', { isAdmin: true });
  expect((await rig.call('DELETE', `${USERS}/1`)).status).toBe(400);
  expect((await rig.call('PUT', `${USERS}/1`, { body: { isDeactivated: true } })).status).toBe(403);
});

test('USER-06 and USER-07 a bulk action answers 200 with succeeded and failed ids, and a repeated id counts once', async () => {
  const { id } = await create('a');
  const { status, body } = await rig.post(`${USERS}/bulk`, {
    action: 'DEACTIVATE',
    userIds: [id, id, 99, 2],
  });
  expect([status, body.succeeded]).toEqual([200, [id, 2]]);
  expect(body.failed).toEqual([{ userId: 99, error: { status: 404, message: expect.any(String) } }]);
});

test('USER-08 a bulk action with no id, with 101 ids or with an unknown action answers 400', async () => {
  const bulk = (action: string, userIds: unknown) => rig.post(`${USERS}/bulk`, { action, userIds });
  const many = Array.from({ length: 101 }, (_, place) => place);
  const answers = [
    await bulk('DELETE', []),
    await bulk('DELETE', many),
    await bulk('PROMOTE', [2]),
    await bulk('DELETE', 'x'),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([400, 400, 400, 400]);
});

test('USER-09 and USER-10 a bulk action with an unknown id is applied to the other ids, and succeeds again when repeated', async () => {
  const bulk = () => rig.post(`${USERS}/bulk`, { action: 'DEACTIVATE', userIds: [2, 99] });
  expect((await bulk()).body.succeeded).toEqual([2]);
  expect((await rig.stored('viewer@acme.example')).active).toBe(false);
  expect((await bulk()).body.succeeded).toEqual([2]);
});

test("USER-11 a bulk action fails only for the caller's own account: DEACTIVATE with 403, DELETE with 400", async () => {
  const failures = async (action: string, key?: string) => {
    const extras = { body: { action, userIds: [2, 1] }, ...(key ? { key } : {}) };
    return (await rig.call('POST', `${USERS}/bulk`, extras)).body.failed;
  };
  expect(await failures('DEACTIVATE')).toMatchObject([{ userId: 1, error: { status: 403 } }]);
  expect(await failures('DELETE')).toMatchObject([{ userId: 1, error: { status: 400 } }]);
});

test('USER-12 a search of platform users matches parts of first name, username and e-mail without letter case', async () => {
  await create('a', { firstName: 'Zoe', email: 'post@zebra.example' });
  for (const search of ['ZOE', 'a@ACME', 'zebra', 'Post@Zebra.exam', 'ost@']) {
    const { body } = await rig.call('GET', `${USERS}?search=${encodeURIComponent(search)}`);
    expect(names(body)).toContain('a');
  }
  await create('mary-jane');
  await create('jane-x');
  expect(names((await rig.call('GET', `${USERS}?search=y-jane@acme.example`)).body)).toEqual(['mary-jane']);
  expect((await rig.call('GET', `${USERS}?search=nothing-like-it`)).body.items).toEqual([]);
});

test.each(['uuid', 'numeric'])(
  'USER-13 a SCIM user is found as a platform user with the same username and externalId (ids %s)',
  async (scimIdStyle) => {
    await rig.control('PATCH', '/settings', { scimIdStyle });
    const scim = await rig.user('jane@acme.example', { externalId: 'x' });
    const { body } = await rig.call('GET', `${USERS}?search=jane@acme.example`);
    expect(body.items).toMatchObject([{ username: 'jane@acme.example', externalId: 'x' }]);
    expect(scim.id === String(body.items[0].id)).toBe(scimIdStyle === 'numeric');
    expect((await rig.call('GET', `${SCIM_USERS}/${scim.id}`)).status).toBe(200);
    const group = await rig.group('g', [scim]);
    expect(group.members[0].value).toBe(scim.id);
  },
);

test('USER-15 and USER-16 PATCH of me/settings by a viewer merges the settings, and null clears sheets', async () => {
  const patch = async (body: object) =>
    (await rig.call('PATCH', `${USERS}/me/settings`, { key: rig.key('viewer'), body })).body.settings;
  await patch({ theme: 'dark', sheets: { a: 1 } });
  expect(await patch({ locale: 'de', sheets: { b: 2 } })).toEqual({
    theme: 'dark',
    locale: 'de',
    sheets: { a: 1, b: 2 },
  });
  expect(await patch({ sheets: null })).toEqual({ theme: 'dark', locale: 'de', sheets: null });
  expect(await patch({ theme: 5 })).toBeUndefined();
});

test('USER-17 assigning a role to a user and removing it answer 204, also when repeated', async () => {
  const { body } = await rig.call('GET', '/api/v1/roles');
  const steward = body.items[0];
  expect(steward).toMatchObject({ name: 'Data Steward', policies: expect.any(Array) });
  const path = `/api/v1/roles/${steward.id}/users/2`;
  for (const method of ['PUT', 'PUT']) expect((await rig.call(method, path)).status).toBe(204);
  expect((await rig.stored('viewer@acme.example')).roles).toEqual(['Viewer', 'Data Steward']);
  for (const method of ['DELETE', 'DELETE']) expect((await rig.call(method, path)).status).toBe(204);
  expect((await rig.stored('viewer@acme.example')).roles).toEqual(['Viewer']);
  expect((await rig.call('PUT', `/api/v1/roles/${steward.id}/users/99`)).status).toBe(404);
});

test('USER-18 assigning the role Admin to a user answers 404', async () => {
  const { roles } = (await rig.control('GET', '/state?only=roles')).body;
  const admin = roles.find((role: { name: string }) => role.name === 'Admin');
  expect((await rig.call('PUT', `/api/v1/roles/${admin.id}/users/2`)).status).toBe(404);
});

test('user groups are listed with their number of users, and DELETE of one answers 204 (contract 3.5)', async () => {
  await rig.group('analysts', [await rig.user('a@acme.example')]);
  const { body } = await rig.call('GET', '/api/v1/user-groups?search=ANA');
  expect(body.items).toEqual([{ id: 1, name: 'analysts', description: null, userCount: 1 }]);
  expect((await rig.call('DELETE', '/api/v1/groups/1')).status).toBe(204);
  expect(await rig.storedGroup('analysts')).toBeUndefined();
});

test('PAGE-06 and PAGE-08 lists of users and of attributes answer 400 to invalid paging numbers and to cursors of another list', async () => {
  for (const query of ['first=0', 'first=x', 'after=abc', 'first=1.5']) {
    expect((await rig.call('GET', `${USERS}?${query}`)).status).toBe(400);
  }
  // The last one is the cursor `user:1` of the list of users.
  for (const query of ['offset=-1', 'limit=x', 'after=dXNlcjox']) {
    expect((await rig.call('GET', `/api/v1/user-attributes?${query}`)).status).toBe(400);
  }
});

test('PAGE-07 and PAGE-09 pages by cursor together list each user once, in the order of the whole list that is returned without `first`', async () => {
  for (let number = 1; number <= 22; number += 1) await create(`u${number}`);
  const whole = names((await rig.call('GET', USERS)).body);
  expect(whole).toHaveLength(25);
  const walked: (string | undefined)[] = [];
  let after = '';
  for (;;) {
    const { body } = await rig.call('GET', `${USERS}?first=7${after}`);
    walked.push(...names(body));
    if (!body.pageInfo.hasNextPage) break;
    after = `&after=${body.pageInfo.endCursor}`;
  }
  expect(walked).toEqual(whole);
});

test('PAGE-05 and PAGE-10 the list of attributes with limit 0 and a trailing slash has no data and the true count', async () => {
  const { body } = await rig.call('GET', '/api/v1/user-attributes/?limit=0');
  expect(body).toMatchObject({ data: [], count: 1, items: [{ name: 'country' }] });
});

test('USER-03 PUT and POST of a user with invalid settings answer 400 and change nothing', async () => {
  const before = (await rig.call('GET', USERS)).body.items;
  const person = { email: 's@acme.example', username: 's@acme.example' };
  for (const settings of [
    { theme: 5 },
    { locale: false },
    { timezone: {} },
    { defaultDeploymentId: '1' },
    { defaultDeploymentId: 1.5 },
    { alternatingRowColors: 'yes' },
    { sheets: [] },
    [],
    'dark',
  ]) {
    const put = await rig.call('PUT', `${USERS}/2`, { body: { title: 'changed', settings } });
    expect([settings, put.status]).toEqual([settings, 400]);
    expect((await rig.post(USERS, { ...person, settings })).status).toBe(400);
  }
  expect((await rig.call('GET', USERS)).body.items).toEqual(before);
  const settings = { theme: 'dark', defaultDeploymentId: 1, sheets: { a: 1 } };
  const { body } = await rig.call('PUT', `${USERS}/2`, { body: { settings: { ...settings, unknown: 1 } } });
  expect(body.settings).toEqual(settings);
  expect((await rig.call('PUT', `${USERS}/2`, { body: { settings: null } })).body.settings).toBeNull();
});
