// Tests environments and meta-sync tokens (contract 4.2 and 4.3).
import { decodeJwt, jwtVerify } from 'jose';
import { startRig, type Rig } from './rig.ts';

const ENVIRONMENTS = '/api/v1/deployments/1/environments';
const STAGING = '/build/api/v1/deployments/1/branches/staging-environment';
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const environments = async (query = '', key = rig.key('admin')) =>
  (await rig.call('GET', `${ENVIRONMENTS}${query}`, { key })).body.data.environments;
const types = async (query = '') =>
  (await environments(query)).map((one: { name: string; type: string }) => [one.name, one.type]);
const enable = (enabled: boolean) => rig.call('PUT', STAGING, { body: { enabled, branchName: 'feature-a' } });
const view = (viewing: boolean) =>
  rig.control('POST', '/branches/view', { deploymentId: '1', branchName: 'feature-a', viewing });
const mint = (body: unknown, environmentId = '1') =>
  rig.post(`${ENVIRONMENTS}/${environmentId}/tokens-for-meta-sync`, body);

test('REC-02 REC-03 an environment has id, name, type, and the REST and SQL addresses as credentials', async () => {
  await enable(true);
  const listed = await environments();
  for (const environment of listed) {
    expect(environment).toEqual({
      id: expect.any(String),
      name: expect.any(String),
      type: expect.stringMatching(/^(production|staging|development)$/),
      api_credentials: {
        rest: { url: expect.stringMatching(/^http/) },
        sql: { host: expect.any(String), port: expect.any(Number) },
      },
    });
    expect(Number.isInteger(environment.api_credentials.sql.port)).toBe(true);
  }
  expect(listed[0].api_credentials.rest.url).toBe(rig.ready.dataApiUrl);
});

test('ENV-01 a list of environments has data.environments with pagination, and all environments as items', async () => {
  const { body } = await rig.call('GET', `${ENVIRONMENTS}?limit=1`);
  expect(body.data.environments).toHaveLength(1);
  expect(body.pagination).toEqual({ offset: 0, limit: 1, total: 2 });
  expect(body.items).toMatchObject([
    {
      id: '1',
      type: 'production',
      branch: 'main',
      // The published form has a list of credentials, unlike `data.environments` of the same answer.
      api_credentials: [
        { type: 'rest', version: 1 },
        { type: 'sql', version: 1 },
      ],
    },
    { id: '3', type: 'development', branch: 'dev-admin', user: 'admin@acme.example' },
  ]);
  expect(body.pageInfo.hasNextPage).toBe(false);
});

test('ENV-02 the query parameter type limits the list to environments of this type', async () => {
  await enable(true);
  expect(await types('?type=production')).toEqual([['main', 'production']]);
  expect(await types('?type=staging')).toEqual([['feature-a', 'staging']]);
  expect(await types('?type=development')).toEqual([['dev-admin', 'development']]);
});

test('ENV-03 inactive staging environments and development environments of other users are not listed', async () => {
  expect(await types()).toEqual([
    ['main', 'production'],
    ['dev-admin', 'development'],
  ]);
  const seen = await environments('', rig.key('viewer'));
  expect(seen.map((one: { name: string }) => one.name)).toEqual(['main']);
});

test('ENV-04 a list of environments with an unknown type answers 400', async () => {
  expect((await rig.call('GET', `${ENVIRONMENTS}?type=x`)).status).toBe(400);
});

test('ENV-05 STATE-01 STATE-02 an enabled branch is listed as a staging environment, even if no user views it', async () => {
  expect((await enable(true)).status).toBe(200);
  const { body } = await rig.call('GET', '/build/api/v1/deployments/1/branches');
  expect(body.data).toContainEqual(
    expect.objectContaining({ name: 'feature-a', isStagingEnvironmentEnabled: true }),
  );
  expect(await types('?type=staging')).toEqual([['feature-a', 'staging']]);
  expect((await rig.state()).branches).toContainEqual(
    expect.objectContaining({ name: 'feature-a', isStagingEnvironmentEnabled: true, isViewed: false }),
  );
});

test('STATE-03 a branch that is disabled and viewed by no user is not listed as an environment', async () => {
  await enable(true);
  const { body } = await enable(false);
  expect(body.data.isStagingEnvironmentEnabled).toBe(false);
  expect(await types('?type=staging')).toEqual([]);
});

test('STATE-04 a disabled branch is listed as a staging environment while a user views it, and not afterwards', async () => {
  await view(true);
  expect(await types('?type=staging')).toEqual([['feature-a', 'staging']]);
  await view(false);
  expect(await types('?type=staging')).toEqual([]);
});

test('ENV-06 environments of an unknown deployment answer 404, and of one outside the scope of the key 403', async () => {
  expect((await rig.call('GET', '/api/v1/deployments/99/environments')).status).toBe(404);
  const key = rig.key('scoped');
  expect((await rig.call('GET', '/api/v1/deployments/2/environments', { key })).status).toBe(403);
});

test("REC-04 META-09 a meta-sync token is a JWT that is signed with the deployment's secret and has the security context", async () => {
  const { status, body } = await mint({ security_context: { country: 'DE', cubeCloud: { groups: ['a'] } } });
  expect([status, Object.keys(body.data)]).toEqual([200, ['token', 'created_at', 'expires_at']]);
  const secret = new TextEncoder().encode(rig.ready.fixtures.deployments[0]?.apiSecret);
  const { payload, protectedHeader } = await jwtVerify(body.data.token, secret);
  expect(protectedHeader.alg).toBe('HS256');
  expect(payload).toMatchObject({ country: 'DE', cubeCloud: { groups: ['a'] }, scope: ['meta'] });
  expect(new Date(Number(payload.exp) * 1000).toISOString()).toBe(body.data.expires_at);
  expect(new Date(Number(payload.iat) * 1000).toISOString()).toBe(body.data.created_at);
});

test('META-01 a request for a meta-sync token whose security_context is missing or no object answers 400', async () => {
  for (const body of [{}, { security_context: null }, { security_context: 'x' }, { security_context: [] }]) {
    expect((await mint(body)).status).toBe(400);
  }
  expect((await mint(undefined)).status).toBe(400);
});

test('META-02 a meta-sync token is issued for an empty security_context', async () => {
  expect((await mint({ security_context: {} })).status).toBe(200);
});

const lifetime = (data: { created_at: string; expires_at: string }) =>
  (Date.parse(data.expires_at) - Date.parse(data.created_at)) / 1000;

test('META-03 without expires_in a meta-sync token is valid for 86,400 seconds', async () => {
  expect(lifetime((await mint({ security_context: {} })).body.data)).toBe(86_400);
});

test('META-04 expires_in sets the lifetime of the meta-sync token', async () => {
  expect(lifetime((await mint({ security_context: {}, expires_in: 3600 })).body.data)).toBe(3600);
});

test('META-05 a meta-sync token with an expires_in that is zero, negative, above the maximum or no number answers 400', async () => {
  for (const seconds of [0, -1, 86_401, '60', false, Number.MAX_VALUE]) {
    expect((await mint({ security_context: {}, expires_in: seconds })).status).toBe(400);
  }
  await rig.control('PATCH', '/settings', { vendorTokenCap: true });
  expect((await mint({ security_context: {}, expires_in: 3601 })).status).toBe(400);
  expect(lifetime((await mint({ security_context: {} })).body.data)).toBe(3600);
});

test('META-11 a meta-sync token for an unknown or inactive environment answers 404', async () => {
  expect((await mint({ security_context: {} }, 'x')).status).toBe(404);
  expect((await mint({ security_context: {} }, '2')).status).toBe(404);
  await enable(true);
  expect((await mint({ security_context: {} }, '2')).status).toBe(200);
});

test('META-12 scope and exp in the security context do not change scope and lifetime of a meta-sync token', async () => {
  const context = { scope: ['data'], exp: 9_999_999_999, iat: 1 };
  const { body } = await mint({ security_context: context, expires_in: 60 });
  const claims = decodeJwt(body.data.token);
  expect(claims['scope']).toEqual(['meta']);
  expect(Number(claims.exp) - Number(claims.iat)).toBe(60);
});

test('a request for a meta-sync token by a user without access to the deployment answers 403', async () => {
  const { body } = await rig.control('POST', '/fixtures', {
    users: [{ userName: 'new@acme.example', roles: [] }],
    apiKeys: [{ name: 'new', owner: 'new@acme.example' }],
  });
  const path = `${ENVIRONMENTS}/1/tokens-for-meta-sync`;
  const { status } = await rig.call('POST', path, {
    key: body.apiKeys[0].key,
    body: { security_context: {} },
  });
  expect(status).toBe(403);
});
