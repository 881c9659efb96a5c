// Tests resources of which the specification has only the path (contract 10).
import { startRig, type Rig } from './rig.ts';

const DEPLOYMENT = '/api/v1/deployments/1';
const BUILD = '/build/api/v1/deployments';
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const get = (path: string) => rig.call('GET', path);
/** Expects 200 with a credential and 401 without one, both in JSON. */
async function expectPath(method: string, path: string, body?: unknown): Promise<any> {
  const bare = await rig.call(method, path, { key: null, body });
  expect([path, bare.status]).toEqual([path, 401]);
  const answer = await rig.call(method, path, { body });
  expect([path, answer.status]).toEqual([path, 200]);
  expect(answer.headers['content-type']).toContain('application/json');
  return answer.body;
}

test('PATH-01 a deployment that is created on the build path is in the list of deployments', async () => {
  const created = await expectPath('POST', BUILD, { name: 'lab', region: 'local' });
  expect(created).toMatchObject({ id: 3, name: 'lab', creationStep: 'ready' });
  expect((await get('/api/v1/deployments')).body.data.deployments).toHaveLength(3);
  expect((await get(`${BUILD}/3/branches`)).body.data).toMatchObject([{ name: 'main' }]);
  expect((await rig.post(BUILD, {})).status).toBe(400);
  expect((await rig.call('POST', BUILD, { key: rig.key('viewer'), body: { name: 'x' } })).status).toBe(403);
});

test('PATH-02 environment variables can be set and listed, and the value of a secret one is returned as [ENCRYPTED]', async () => {
  const path = `${DEPLOYMENT}/env-vars`;
  expect(await expectPath('GET', path)).toEqual({ items: [], data: [] });
  const key = rig.key('scoped');
  expect((await rig.call('GET', '/api/v1/deployments/2/env-vars', { key })).status).toBe(403);
  const put = (items: object[]) => rig.call('PUT', path, { body: { items } });
  await put([
    { name: 'DB_HOST', value: 'db' },
    { name: 'DB_PASS', value: 'hunter2' },
  ]);
  const { body } = await put([{ name: 'DB_HOST', value: 'db2' }]);
  expect(body.items).toEqual([
    { name: 'DB_HOST', value: 'db2' },
    { name: 'DB_PASS', value: '[ENCRYPTED]' },
  ]);
  expect((await put([{ name: 'DB_PASS', value: '[ENCRYPTED]' }])).status).toBe(400);
  expect(JSON.stringify((await rig.control('GET', '/requests')).body)).not.toContain('hunter2');
});

test('PATH-03 GET /regions lists the region local', async () => {
  expect((await expectPath('GET', '/api/v1/regions')).items[0]).toMatchObject({ id: 'local' });
});

test('PATH-04 PATH-05 GET of the branches and of the file hashes of a data model answers 200', async () => {
  expect((await expectPath('GET', `${BUILD}/1/branches`)).data).toHaveLength(3);
  await expectPath('GET', `${BUILD}/1/data-model/file-hashes`);
});

test('PATH-06 GET of the GitHub status answers isConnected false, and connecting a repository answers 200', async () => {
  expect(await expectPath('GET', '/api/v1/github/status')).toEqual({ isConnected: false });
  await expectPath('POST', `${BUILD}/1/github/connect`, { repository: 'acme/model' });
});

test('PATH-07 a dbt sync that was started is listed at its deployment only', async () => {
  const started = await expectPath('POST', `${DEPLOYMENT}/dbt-sync`, { branch: 'main' });
  expect((await expectPath('GET', `${DEPLOYMENT}/dbt-sync`)).items).toEqual([started]);
  expect((await get('/api/v1/deployments/2/dbt-sync')).body.items).toEqual([]);
});

test('PATH-11 an administrator gets the notifications of a deployment, and another user 403', async () => {
  expect((await expectPath('GET', `${DEPLOYMENT}/notifications`)).items).toEqual([]);
  const { status } = await rig.call('GET', `${DEPLOYMENT}/notifications`, { key: rig.key('viewer') });
  expect(status).toBe(403);
});

test('PATH-17 an administrator can change tenant settings, and auditLogEnabled false makes the audit export answer 403', async () => {
  expect(await expectPath('GET', '/api/v1/tenant/settings')).toMatchObject({ auditLogEnabled: true });
  const body = { auditLogEnabled: false, unknown: 1 };
  expect((await rig.call('PUT', '/api/v1/tenant/settings', { body })).body.auditLogEnabled).toBe(false);
  expect((await get('/api/v1/audit-logs/export')).status).toBe(403);
  const { status } = await rig.call('PUT', '/api/v1/tenant/settings', { key: rig.key('viewer'), body });
  expect(status).toBe(403);
});

test('PATH-18 PATH-19 PATH-20 OAuth integrations, tokens and OIDC configurations are returned as bare arrays', async () => {
  expect(await expectPath('GET', '/api/v1/user-oauth-tokens')).toEqual([]);
  for (const path of ['/api/v1/oauth-integrations', '/api/v1/oidc-token-configs']) {
    expect(await expectPath('GET', path)).toEqual([]);
    const { body } = await rig.post(path, { name: 'one' });
    expect((await get(path)).body).toEqual([body]);
    expect((await get(`${path}/${body.id}`)).body).toEqual(body);
    expect((await rig.call('DELETE', `${path}/${body.id}`)).status).toBe(204);
    expect((await get(`${path}/${body.id}`)).status).toBe(404);
  }
});

test("PATH-21 GET of the application's configuration returns its theme setting", async () => {
  expect(await expectPath('GET', '/api/v1/app-config')).toMatchObject({ applyThemeGlobally: false });
});

test('PATH-22 an embed session is created and exchanged for a token', async () => {
  const { sessionId } = await expectPath('POST', '/api/v1/embed/generate-session', { deploymentId: 1 });
  const exchange = (id: unknown) => rig.post('/api/v1/embed/session/token', { sessionId: id });
  expect((await exchange(sessionId)).body.token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  expect((await exchange('unknown')).status).toBe(404);
});

test('PATH-23 GET of embed tenants answers an empty list', async () => {
  expect(await expectPath('GET', '/api/v1/embed-tenants')).toMatchObject({ items: [], pageInfo: {} });
});

test('PATH-25 a token for usage analytics is valid for one hour', async () => {
  const { body } = await rig.post('/api/v1/usage-analytics/token', {});
  expect(body).toMatchObject({ token: expect.any(String), apiUrl: rig.ready.dataApiUrl, deploymentId: 1 });
  expect(Date.parse(body.expiresAt) - Date.now()).toBeGreaterThan(3_590_000);
  await expectPath('POST', '/api/v1/usage-analytics/token');
});

test('PATH-13 PATH-14 PATH-15 PATH-16 requests for users, own settings, attributes and values answer 200 with a credential and 401 without', async () => {
  await expectPath('PATCH', '/api/v1/users/me/settings', { theme: 'dark' });
  const user = await expectPath('POST', '/api/v1/users', {
    email: 'p@acme.example',
    username: 'p@acme.example',
  });
  const { items } = await expectPath('GET', '/api/v1/user-attributes');
  const value = { userId: String(user.id), userAttributeId: String(items[0].id), value: 'DE' };
  await expectPath('POST', '/api/v1/user-attribute-values', value);
});

test('PATH-27 a path prefix without an operation answers 404 with a credential and 401 without', async () => {
  for (const path of ['/api/v1/embed', '/api/v1/github', `${BUILD}/1`, `${BUILD}/1/data-model`]) {
    const { status, body } = await get(path);
    expect([path, status, body]).toEqual([path, 404, { error: expect.any(String) }]);
    expect((await rig.call('GET', path, { key: null })).status).toBe(401);
  }
});

test('PATH-18 PATH-19 a viewer reads OAuth integrations without their secrets, and gets 403 for OIDC configurations', async () => {
  const path = '/api/v1/oauth-integrations';
  const integration = {
    name: 'warehouse',
    clientId: 'public-id',
    clientSecret: 'hunter2',
    inside: [{ access_token: 'hunter2', apiKeys: ['hunter2'], scope: 'read' }],
  };
  const { body } = await rig.post(path, integration);
  for (const address of [path, `${path}/${body.id}`]) {
    const shown = await rig.call('GET', address, { key: rig.key('viewer') });
    expect([shown.status, JSON.stringify(shown.body).includes('hunter2')]).toEqual([200, false]);
    expect(JSON.stringify(shown.body)).toContain('public-id');
    expect(JSON.stringify((await get(address)).body)).toContain('"clientSecret":"hunter2"');
  }
  for (const address of ['/api/v1/oidc-token-configs', '/api/v1/oidc-token-configs/1'])
    expect((await rig.call('GET', address, { key: rig.key('viewer') })).status).toBe(403);
});
