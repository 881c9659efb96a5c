// Tests authentication of the sandbox (contract 1 and 4.0; rows GEN and AUTH).
import { startRig, USERS, type Rig } from './rig.ts';

const ME = '/api/v1/users/me';
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

test('GEN-01 a request without a credential answers 401 in each family of the API', async () => {
  for (const path of [ME, USERS, '/build/api/v1/deployments/1/branches', '/api/v1/no-such-path']) {
    expect((await rig.call('GET', path, { key: null })).status).toBe(401);
  }
});

test('GEN-02 a request with x-forwarded-proto: http answers 400, even without a credential', async () => {
  for (const path of [ME, USERS]) {
    const answer = await rig.call('GET', path, { key: null, headers: { 'x-forwarded-proto': 'http' } });
    expect([answer.status, answer.body]).toEqual([400, { error: 'HTTPS is required' }]);
  }
  expect((await rig.call('GET', ME, { headers: { 'x-forwarded-proto': 'https' } })).status).toBe(200);
});

test('GEN-02 a sandbox without TLS refuses to start on an address beyond loopback', async () => {
  await expect(startRig({ host: '0.0.0.0' })).rejects.toThrow('loopback');
});

test('GEN-07 a request body that is plain text or broken JSON answers 400 with a JSON error', async () => {
  const text = await rig.call('POST', '/api/v1/users', {
    raw: 'hello',
    headers: { 'content-type': 'text/plain' },
  });
  expect(text.status).toBe(400);
  expect(text.headers['content-type']).toContain('application/json');
  expect((await rig.call('POST', USERS, { raw: '{"userName":' })).body).toMatchObject({
    status: '400',
    scimType: 'invalidSyntax',
  });
});

test('GEN-08 unknown JSON keys and query parameters of a SCIM POST are ignored', async () => {
  const raw = '{"userName":"extra@acme.example","favouriteColour":"red","__proto__":{"active":false}}';
  const { status, body } = await rig.call('POST', `${USERS}?unknown=1`, { raw });
  expect([status, body.active]).toEqual([201, true]);
});

test('unknown paths under /api answer 404 in the error form of their API family', async () => {
  expect((await rig.call('GET', '/api/v1/embed')).body).toEqual({ error: 'Not found' });
  expect((await rig.call('GET', '/api/scim/v2/Me')).body).toMatchObject({ status: '404' });
  expect((await rig.call('GET', '/elsewhere', { key: null })).status).toBe(404);
});

test('AUTH-01 Platform REST accepts an API key with the scheme Bearer', async () => {
  const { status, body } = await rig.call('GET', ME);
  expect([status, body.username]).toEqual([200, 'admin@acme.example']);
});

test('AUTH-02 Platform REST accepts an OAuth token with the scheme Bearer', async () => {
  expect((await rig.call('GET', ME, { key: rig.ready.fixtures.oauthToken })).status).toBe(200);
});

test('AUTH-03 SCIM accepts a token with the scheme Bearer', async () => {
  expect((await rig.call('GET', USERS)).status).toBe(200);
});

test('AUTH-04 SCIM accepts a token with the scheme Api-Key', async () => {
  const headers = { authorization: `Api-Key ${rig.key('admin')}` };
  expect((await rig.call('GET', USERS, { key: null, headers })).status).toBe(200);
});

test('AUTH-05 Platform REST accepts the API key that SCIM accepts as its token', async () => {
  expect((await rig.call('GET', '/api/v1/user-attributes')).status).toBe(200);
});

test('AUTH-13 and AUTH-14 a key scoped to one deployment answers 403 at any other deployment, whether that exists or not', async () => {
  const key = rig.key('scoped');
  for (const path of ['/api/v1/deployments/2/environments', '/build/api/v1/deployments/99/branches']) {
    expect((await rig.call('GET', path, { key })).status).toBe(403);
  }
  expect((await rig.call('GET', '/api/v1/deployments/99/environments')).status).toBe(404);
  expect((await rig.call('GET', '/api/v1/deployments/abc/environments')).status).toBe(400);
});

test('AUTH-16 a scoped key gets 200 from endpoints without a deployment', async () => {
  for (const path of [USERS, '/api/v1/users', '/api/v1/user-attributes']) {
    expect((await rig.call('GET', path, { key: rig.key('scoped') })).status).toBe(200);
  }
});

test('AUTH-18 every operation without a credential answers 401 in the form of its API family, and changes nothing', async () => {
  const { paths } = (await rig.call('GET', '/api/v1/spec')).body;
  const state = async () => ({ ...(await rig.state()), nowMs: 0 });
  const before = await state();
  const operations = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path.replace(/\{\w+\}/g, '1')] as const),
  );
  expect(operations.length).toBeGreaterThan(80);
  for (const [method, path] of operations) {
    for (const headers of [{}, { authorization: '' }, { cookie: `key=${rig.key('admin')}` }]) {
      const body = method === 'GET' ? undefined : { name: 'x', userName: 'x', displayName: 'x' };
      const answer = await rig.call(method, path, { key: null, headers, body });
      expect([method, path, answer.status, answer.headers['www-authenticate']]).toEqual([
        ...[method, path, 401, 'Bearer'],
      ]);
      const isScim = path.startsWith('/api/scim/');
      expect(answer.body).toMatchObject(isScim ? { status: '401' } : { error: expect.any(String) });
    }
    const inAddress = `${path}?access_token=${rig.key('admin')}&token=${rig.key('admin')}`;
    expect((await rig.call(method, inAddress, { key: null })).status).toBe(401);
  }
  expect(await state()).toEqual(before);
});

test('AUTH-19 a malformed credential answers 401', async () => {
  for (const authorization of [
    'Bearer',
    'Bearer ',
    'Basic x',
    'random text here',
    rig.key('admin'),
    'Bearer nope',
  ]) {
    expect((await rig.call('GET', ME, { key: null, headers: { authorization } })).status).toBe(401);
  }
});

test('AUTH-20 an expired API key or OAuth token answers 401', async () => {
  expect((await rig.call('GET', ME, { key: rig.key('expired') })).status).toBe(401);
  const expiresAt = '2020-01-01T00:00:00Z';
  const { body } = await rig.control('POST', '/fixtures', {
    oauthTokens: [{ owner: 'admin@acme.example', expiresAt }],
  });
  expect((await rig.call('GET', ME, { key: body.oauthTokens[0].token })).status).toBe(401);
});

test('AUTH-21 a revoked API key answers 401 at once', async () => {
  await rig.control('DELETE', '/api-keys/viewer');
  expect((await rig.call('GET', ME, { key: rig.key('viewer') })).status).toBe(401);
});

test('AUTH-22 a valid API key whose owner lacks the permission answers 403', async () => {
  const body = { name: 'region', type: 'string' };
  const answer = await rig.call('POST', '/api/v1/user-attributes', { key: rig.key('viewer'), body });
  expect(answer.status).toBe(403);
  expect((await rig.call('GET', USERS, { key: rig.key('viewer') })).status).toBe(403);
});

test('AUTH-23 the bodies of 401 and 403 are SCIM errors in SCIM, and {error} in Platform REST', async () => {
  const scimError = 'urn:ietf:params:scim:api:messages:2.0:Error';
  expect((await rig.call('GET', ME, { key: null })).body).toEqual({ error: expect.any(String) });
  expect((await rig.call('GET', USERS, { key: null })).body).toEqual({
    schemas: [scimError],
    status: '401',
    detail: expect.any(String),
  });
  expect((await rig.call('GET', USERS, { key: rig.key('viewer') })).body).toMatchObject({ status: '403' });
  expect((await rig.call('GET', '/api/v1/users', { key: rig.key('viewer') })).body).toEqual({
    error: expect.any(String),
  });
});

test('AUTH-26 an API key answers 200 before its expiry and 401 after it', async () => {
  const expiresAt = Date.now() + 60_000;
  const { body } = await rig.control('POST', '/fixtures', {
    apiKeys: [{ name: 'short', owner: 'admin@acme.example', expiresAt }],
  });
  const key = body.apiKeys[0].key;
  expect(key).toMatch(/^sk-/);
  expect((await rig.call('GET', ME, { key })).status).toBe(200);
  await rig.control('POST', '/clock', { advanceMs: 61_000 });
  expect((await rig.call('GET', ME, { key })).status).toBe(401);
});

test('AUTH-27 with strictAuthScheme the scheme Api-Key answers 401 on Platform REST, and still 200 on SCIM', async () => {
  const headers = { authorization: `Api-Key ${rig.key('admin')}` };
  expect((await rig.call('GET', ME, { key: null, headers })).status).toBe(200);
  await rig.control('PATCH', '/settings', { strictAuthScheme: true });
  expect((await rig.call('GET', ME, { key: null, headers })).status).toBe(401);
  expect((await rig.call('GET', USERS, { key: null, headers })).status).toBe(200);
});
