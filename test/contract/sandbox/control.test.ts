// Tests the control port, the seeds and the injected faults (docs/sandbox.md).
import { GROUPS, startRig, USERS, type Rig } from './rig.ts';

let rig: Rig;
const faults = (body: object) => rig.control('PATCH', '/faults', body);
const me = () => rig.call('GET', '/api/v1/users/me');

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

test('the ready line of the sandbox has the published keys, and a reset returns the same line', async () => {
  const { body } = await rig.reset();
  expect(body).toEqual(rig.ready);
  expect(Object.keys(body)).toEqual([
    'platformUrl',
    'dataApiUrl',
    'chatHost',
    'accountName',
    'controlUrl',
    'fixtures',
  ]);
  expect(Object.keys(body.fixtures.apiKeys)).toEqual(['admin', 'viewer', 'scoped', 'expired', 'audit']);
  expect(body.fixtures.deployments).toMatchObject([
    { id: '1', name: 'sales', agents: ['1'], tokenAuthentication: true },
    { id: '2', name: 'ops', agents: ['2'], tokenAuthentication: false },
  ]);
  expect(body.fixtures.users).toEqual({
    admin: { id: 1, userName: 'admin@acme.example' },
    viewer: { id: 2, userName: 'viewer@acme.example' },
  });
});

test('reset removes users, settings, faults, the clock offset and the request log', async () => {
  await rig.user('a@acme.example');
  await rig.control('PATCH', '/settings', { pageCap: 1 });
  await rig.control('POST', '/clock', { advanceMs: 5000 });
  await faults({ status5xx: 1 });
  await rig.reset();
  const state = await rig.state();
  expect(state).toMatchObject({ offsetMs: 0, settings: { pageCap: 1000 }, groups: [], auditEvents: [] });
  expect(state.users).toHaveLength(3);
  expect((await me()).status).toBe(200);
  expect((await rig.control('POST', '/reset', { seed: 'huge' })).status).toBe(400);
});

test('the seed large:120 has 120 people, who are all in one group and also in teams of at most 50', async () => {
  await rig.control('POST', '/reset', { seed: 'large:120' });
  // Three users of the small seed; the groups are all-staff and teams of 50, 50 and 20.
  const { users, groups } = (await rig.control('GET', '/state?only=users,groups')).body;
  expect([users.length, groups.length, groups[0].members.length, groups[3].members.length]).toEqual([
    123, 4, 120, 20,
  ]);
});

test('GET /state of the sandbox returns every part, with `only` the named parts, and no API key', async () => {
  expect(Object.keys(await rig.state())).toEqual(
    expect.arrayContaining([
      'users',
      'groups',
      'attributeDefinitions',
      'workspace',
      'branches',
      'auditEvents',
      'threads',
    ]),
  );
  const { body } = await rig.control('GET', '/state?only=groups');
  expect(Object.keys(body)).toEqual(['nowMs', 'offsetMs', 'groups']);
  expect(JSON.stringify(await rig.state())).not.toContain(rig.key('admin'));
});

test('POST /fixtures creates users, keys, deployments and folders that later calls find, and answers 400 to an unknown kind', async () => {
  const { body } = await rig.control('POST', '/fixtures', {
    users: [{ userName: 'boss@acme.example', isAdmin: true, permissions: ['AuditLogManage'] }],
    apiKeys: [{ name: 'boss', owner: 'boss@acme.example', deployments: ['2'] }],
    deployments: [{ name: 'lab', branches: ['main', { name: 'dev', kind: 'personal' }] }],
    folders: [{ deploymentId: '1', name: 'Reports' }],
    auditEvents: [{ timestamp: '2026-01-01T00:00:00Z', userEmail: 'x@acme.example', eventName: 'Logged in' }],
  });
  expect(body.deployments[0]).toMatchObject({
    id: '3',
    branches: [{ kind: 'production' }, { kind: 'personal' }],
  });
  expect((await rig.call('GET', USERS, { key: body.apiKeys[0].key })).status).toBe(200);
  const state = await rig.state();
  expect(state).toMatchObject({
    workspace: { folders: expect.arrayContaining([expect.objectContaining({ name: 'Reports' })]) },
    auditEvents: [{ eventName: 'Logged in' }],
  });
  expect((await rig.control('POST', '/fixtures', { unicorns: [] })).status).toBe(400);
  const unlisted = { name: 'odd', owner: 'boss@acme.example', deployments: '2' };
  expect((await rig.control('POST', '/fixtures', { apiKeys: [unlisted] })).status).toBe(400);
});

test("the sandbox's control API answers 400 to unknown settings and faults and to unfit values, and 404 to an unknown branch", async () => {
  expect((await rig.control('PATCH', '/settings', { colour: 'red' })).status).toBe(400);
  expect((await rig.control('PATCH', '/settings', { pageCap: 'many' })).status).toBe(400);
  const wrong = [
    ...[{ gremlins: 1 }, { latencyMs: 'x' }, { status5xx: 2 }, { rules: [{ path: '(' }] }],
    ...[{ status5xx: { status: 200 } }, { status429: { retryAfter: -1 } }, { dropAfter: { share: 2 } }],
    ...[{ truncateLists: { mode: 'half' } }, { rules: [{ timeoutAfterCommit: { holdMs: 'long' } }] }],
  ];
  for (const bad of wrong) expect([bad, (await faults(bad)).status]).toEqual([bad, 400]);
  const view = (branchName: string) =>
    rig.control('POST', '/branches/view', { deploymentId: '1', branchName, viewing: true });
  expect((await view('nowhere')).status).toBe(404);
  expect((await view('feature-a')).status).toBe(200);
  expect((await rig.state()).branches).toContainEqual(
    expect.objectContaining({ name: 'feature-a', isViewed: true }),
  );
});

test("an advance of the sandbox's clock that is no number or leaves the range of dates answers 400", async () => {
  for (const advanceMs of [1e18, -1e18, 'soon', null])
    expect((await rig.control('POST', '/clock', { advanceMs })).status).toBe(400);
  const century = 100 * 365 * 86_400_000;
  expect((await rig.control('POST', '/clock', { advanceMs: century })).body.offsetMs).toBe(century);
  expect((await rig.post(USERS, { userName: 'later@acme.example' })).status).toBe(201);
  expect((await rig.control('POST', '/clock', { advanceMs: 2 * century })).status).toBe(400);
});

test("the sandbox's request log has method, path, status and body of each request, and no secret", async () => {
  await rig.control('DELETE', '/requests');
  await rig.post('/api/v1/users', { email: 'a@a.a', username: 'a', password: 'hunter2' });
  await rig.call('GET', `${USERS}?count=1`, { key: null });
  const { body } = await rig.control('GET', '/requests');
  expect(body).toMatchObject([
    { method: 'POST', path: '/api/v1/users', status: 200, body: { username: 'a', password: '[HIDDEN]' } },
    { method: 'GET', path: USERS, query: 'count=1', status: 401, body: null },
  ]);
  expect([typeof body[0].atMs, typeof body[0].durationMs]).toEqual(['number', 'number']);
});

test('ERR-10 the fault status429 answers 429 with Retry-After in the form of the API family, and nothing is changed', async () => {
  await faults({ status429: { share: 1, retryAfter: 7 } });
  const answer = await rig.post(USERS, { userName: 'a@acme.example' });
  expect([answer.status, answer.headers['retry-after'], answer.body.status]).toEqual([429, '7', '429']);
  expect((await me()).body).toEqual({ error: 'Too many requests' });
  expect(await rig.stored('a@acme.example')).toBeUndefined();
  await faults({});
  expect((await me()).status).toBe(200);
});

test('the fault dropBefore closes the socket before the change is stored, and dropAfter afterwards', async () => {
  await faults({ dropBefore: true });
  await expect(rig.user('a@acme.example')).rejects.toThrow();
  expect(await rig.stored('a@acme.example')).toBeUndefined();
  await faults({ dropAfter: { share: 1 } });
  await expect(rig.user('a@acme.example')).rejects.toThrow();
  expect((await rig.stored('a@acme.example')).active).toBe(true);
});

test('the fault timeoutAfterCommit stores the change and closes the connection after holdMs without an answer', async () => {
  await faults({ timeoutAfterCommit: { share: 1, holdMs: 60 } });
  const startedMs = performance.now();
  await expect(rig.user('a@acme.example')).rejects.toThrow();
  expect(performance.now() - startedMs).toBeGreaterThan(50);
  expect(await rig.stored('a@acme.example')).toBeDefined();
});

test('the fault status5xx with afterCommit stores the change and answers the given status', async () => {
  await faults({ status5xx: { status: 502, afterCommit: true } });
  expect((await rig.post(USERS, { userName: 'b@acme.example' })).status).toBe(502);
  expect(await rig.stored('b@acme.example')).toBeDefined();
});

test('the fault timeoutBeforeCommit changes nothing and closes the connection after holdMs without an answer', async () => {
  await faults({ timeoutBeforeCommit: { share: 1, holdMs: 60 } });
  const startedMs = performance.now();
  await expect(rig.user('a@acme.example')).rejects.toThrow();
  expect(performance.now() - startedMs).toBeGreaterThan(50);
  expect(await rig.stored('a@acme.example')).toBeUndefined();
});

test('a fault rule applies to requests of its method and path: the first `skip` succeed, and the next `times` fail', async () => {
  await faults({
    rules: [{ method: 'post', path: '^/api/scim/v2/Users$', skip: 1, times: 2, status5xx: { status: 500 } }],
  });
  const statuses: number[] = [];
  for (const name of ['a', 'b', 'c', 'd']) statuses.push((await rig.post(USERS, { userName: name })).status);
  expect(statuses).toEqual([201, 500, 500, 201]);
  expect((await rig.call('GET', USERS)).status).toBe(200);
});

test('a fault with a share affects the same requests again after it is set with the same seed', async () => {
  const run = async (seed: number) => {
    await faults({ seed, status5xx: 0.5 });
    const statuses: number[] = [];
    for (let turn = 0; turn < 20; turn += 1) statuses.push((await me()).status);
    return statuses;
  };
  const first = await run(3);
  expect(first).toEqual(await run(3));
  expect(new Set(first)).toEqual(new Set([200, 503]));
  expect(first).not.toEqual(await run(4));
});

test('the fault latencyMs delays the answer', async () => {
  await faults({ latencyMs: 60 });
  const startedMs = performance.now();
  await me();
  expect(performance.now() - startedMs).toBeGreaterThan(50);
});

test('the fault truncateLists shortens a list together with its total, and in the mode page without changing the total', async () => {
  // One of the three users of the seed is kept.
  await faults({ truncateLists: { keep: 0.34 } });
  expect((await rig.call('GET', USERS)).body).toMatchObject({ totalResults: 1, itemsPerPage: 1 });
  expect((await rig.call('GET', '/api/v1/users')).body).toMatchObject({
    items: [{ id: 1 }],
    pageInfo: { hasNextPage: false },
  });
  await faults({ truncateLists: { keep: 0.34, mode: 'page' } });
  expect((await rig.call('GET', USERS)).body).toMatchObject({ totalResults: 3, itemsPerPage: 1 });
  expect((await rig.call('GET', '/api/v1/users')).body).toMatchObject({ pageInfo: { hasNextPage: true } });
});

test('the fault ignoreMembers answers 200 to a PATCH of a group and does not change its members', async () => {
  const user = await rig.user('a@acme.example');
  const group = await rig.group('analysts');
  await faults({ ignoreMembers: true });
  const add = { op: 'add', path: 'members', value: [{ value: user.id }] };
  expect((await rig.patch(`${GROUPS}/${group.id}`, add)).status).toBe(200);
  expect((await rig.storedGroup('analysts')).members).toEqual([]);
});

test('the fault staleReadsMs returns users and groups as they were, until the time has passed', async () => {
  await faults({ staleReadsMs: 30_000 });
  const viewer = await rig.stored('viewer@acme.example');
  const user = await rig.user('a@acme.example');
  const group = await rig.group('analysts', [user]);
  await rig.patch(`${USERS}/${viewer.scimId}`, { op: 'replace', path: 'active', value: false });
  const read = async (path: string) => (await rig.call('GET', path)).status;
  const count = async () => (await rig.call('GET', USERS)).body.totalResults;
  const isActive = async () => (await rig.call('GET', `${USERS}/${viewer.scimId}`)).body.active;
  expect([await read(`${USERS}/${user.id}`), await read(`${GROUPS}/${group.id}`), await count()]).toEqual([
    404, 404, 3,
  ]);
  expect(await isActive()).toBe(true);
  await rig.control('POST', '/clock', { advanceMs: 31_000 });
  expect([await read(`${USERS}/${user.id}`), await read(`${GROUPS}/${group.id}`), await count()]).toEqual([
    200, 200, 4,
  ]);
  expect(await isActive()).toBe(false);
});

test('the fault staleReadsMs returns attribute definitions as they were, until the time has passed', async () => {
  await faults({ staleReadsMs: 30_000 });
  await rig.attribute('region', 'string');
  const names = async () =>
    (await rig.call('GET', '/api/v1/user-attributes')).body.items.map((one: { name: string }) => one.name);
  expect(await names()).toEqual(['country']);
  await rig.control('POST', '/clock', { advanceMs: 31_000 });
  expect(await names()).toEqual(['region', 'country']);
});

test('with the fault staleReadsMs from the start, reads return the users of the seed', async () => {
  const other = await startRig({ faults: { staleReadsMs: 30_000 } });
  expect((await other.call('GET', USERS)).body.totalResults).toBe(3);
  await other.stop();
});

test('ERR-08 the fault htmlAnswer answers 200 with a web page', async () => {
  await faults({ rules: [{ path: '^/api/v1/users$', htmlAnswer: true }] });
  const { status, body } = await rig.call('GET', '/api/v1/users');
  expect([status, body.startsWith('<')]).toEqual([200, true]);
});

test('the sandbox stops within five seconds while a fault withholds an answer, and the waiting client gets ECONNRESET', async () => {
  const other = await startRig({ faults: { timeoutAfterCommit: 1 } });
  const held = other.user('a@acme.example').catch((error: unknown) => error);
  // Time for the request to arrive.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const startedMs = performance.now();
  await other.stop();
  expect(performance.now() - startedMs).toBeLessThan(5000);
  expect(await held).toMatchObject({ code: 'ECONNRESET' });
});
