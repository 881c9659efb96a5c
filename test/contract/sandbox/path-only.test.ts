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

test('PATH-01 a deployment created on the build path is listed', async () => {
  const created = await expectPath('POST', BUILD, { name: 'lab', region: 'local' });
  expect(created).toMatchObject({ id: 3, name: 'lab', creationStep: 'ready' });
  expect((await get('/api/v1/deployments')).body.data.deployments).toHaveLength(3);
  expect((await get(`${BUILD}/3/branches`)).body.data).toMatchObject([{ name: 'main' }]);
  expect((await rig.post(BUILD, {})).status).toBe(400);
  expect((await rig.call('POST', BUILD, { key: rig.key('viewer'), body: { name: 'x' } })).status).toBe(403);
});

test('PATH-02 environment variables are listed and upserted, and sensitive values are never returned', async () => {
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

test('PATH-03 regions are listed', async () => {
  expect((await expectPath('GET', '/api/v1/regions')).items[0]).toMatchObject({ id: 'local' });
});

test('PATH-04 PATH-05 the branches and the file hashes of a data model are returned', async () => {
  expect((await expectPath('GET', `${BUILD}/1/branches`)).data).toHaveLength(3);
  await expectPath('GET', `${BUILD}/1/data-model/file-hashes`);
});

test('PATH-06 the GitHub status is returned, and connecting a source repository is 200', async () => {
  expect(await expectPath('GET', '/api/v1/github/status')).toEqual({ isConnected: false });
  await expectPath('POST', `${BUILD}/1/github/connect`, { repository: 'acme/model' });
});

test('PATH-07 a dbt sync that was started is listed', async () => {
  const started = await expectPath('POST', `${DEPLOYMENT}/dbt-sync`, { branch: 'main' });
  expect((await expectPath('GET', `${DEPLOYMENT}/dbt-sync`)).items).toEqual([started]);
  expect((await get('/api/v1/deployments/2/dbt-sync')).body.items).toEqual([]);
});

test('PATH-11 administrators get the notifications, other users 403', async () => {
  expect((await expectPath('GET', `${DEPLOYMENT}/notifications`)).items).toEqual([]);
  const { status } = await rig.call('GET', `${DEPLOYMENT}/notifications`, { key: rig.key('viewer') });
  expect(status).toBe(403);
});

test('PATH-17 tenant settings are changed, and switch the audit log', async () => {
  expect(await expectPath('GET', '/api/v1/tenant/settings')).toMatchObject({ auditLogEnabled: true });
  const body = { auditLogEnabled: false, unknown: 1 };
  expect((await rig.call('PUT', '/api/v1/tenant/settings', { body })).body.auditLogEnabled).toBe(false);
  expect((await get('/api/v1/audit-logs/export')).status).toBe(403);
  const { status } = await rig.call('PUT', '/api/v1/tenant/settings', { key: rig.key('viewer'), body });
  expect(status).toBe(403);
});

test('PATH-18 PATH-19 PATH-20 OAuth integrations, tokens and OIDC configurations are bare arrays', async () => {
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

test('PATH-21 the theme of the application is returned', async () => {
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

test('PATH-13 PATH-14 PATH-15 PATH-16 the paths of users, their settings, attributes and values are 200 with a credential, 401 without', async () => {
  await expectPath('PATCH', '/api/v1/users/me/settings', { theme: 'dark' });
  const user = await expectPath('POST', '/api/v1/users', {
    email: 'p@acme.example',
    username: 'p@acme.example',
  });
  const { items } = await expectPath('GET', '/api/v1/user-attributes');
  const value = { userId: String(user.id), userAttributeId: String(items[0].id), value: 'DE' };
  await expectPath('POST', '/api/v1/user-attribute-values', value);
});

test('PATH-27 path prefixes without an operation are 404 with a credential, 401 without', async () => {
  for (const path of ['/api/v1/embed', '/api/v1/github', `${BUILD}/1`, `${BUILD}/1/data-model`]) {
    const { status, body } = await get(path);
    expect([path, status, body]).toEqual([path, 404, { error: expect.any(String) }]);
    expect((await rig.call('GET', path, { key: null })).status).toBe(401);
  }
});

test('PATH-18 PATH-19 a caller who may not manage integrations reads them without secrets, and gets 403 for OIDC configurations', async () => {
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
