// Tests the errors of the control plane, operation by operation (contract 7).
import { startRig, USERS, type Rig } from './rig.ts';

const DEPLOYMENT = '/api/v1/deployments/1';
const BUILD = '/build/api/v1/deployments';
const STAGING = `${BUILD}/1/branches/staging-environment`;
const TOKENS = 'tokens-for-meta-sync';
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

type Refused = [status: number, method: string, path: string, body?: object | undefined, key?: string];
const REFUSED: Refused[] = [
  [400, 'GET', '/api/v1/deployments?limit=x'],
  [400, 'GET', '/api/v1/deployments/x/environments'],
  [400, 'GET', `${DEPLOYMENT}/environments?type=x`],
  [403, 'GET', '/api/v1/deployments/2/environments', undefined, 'scoped'],
  [404, 'GET', '/api/v1/deployments/99/environments'],
  [400, 'POST', `${DEPLOYMENT}/environments/1/${TOKENS}`, {}],
  [403, 'POST', `/api/v1/deployments/2/environments/4/${TOKENS}`, { security_context: {} }, 'viewer'],
  [404, 'POST', `${DEPLOYMENT}/environments/x/${TOKENS}`, { security_context: {} }],
  [400, 'GET', `${DEPLOYMENT}/versions?first=0`],
  [403, 'GET', '/api/v1/deployments/2/versions', undefined, 'scoped'],
  [404, 'GET', '/api/v1/deployments/99/versions'],
  [400, 'PUT', DEPLOYMENT, { releaseChannelVersion: '9.9.9' }],
  [403, 'PUT', DEPLOYMENT, { name: 'x' }, 'viewer'],
  [404, 'PUT', '/api/v1/deployments/99', { name: 'x' }],
  [400, 'GET', `${BUILD}/1/branches?first=0`],
  [403, 'GET', `${BUILD}/2/branches`, undefined, 'scoped'],
  [404, 'GET', `${BUILD}/99/branches`],
  [400, 'PUT', STAGING, { enabled: true, branchName: 'main' }],
  [403, 'PUT', STAGING, { enabled: true, branchName: 'feature-a' }, 'viewer'],
  [404, 'PUT', STAGING, { enabled: true, branchName: 'x' }],
  [400, 'GET', '/api/v1/audit-logs/export?start=x'],
  [403, 'GET', '/api/v1/audit-logs/export', undefined, 'viewer'],
];

test('ERR-01 answers with 400, 403 or 404 have the body {error: text} for each operation', async () => {
  for (const [status, method, path, body, key = 'admin'] of REFUSED) {
    const answer = await rig.call(method, path, { key: rig.key(key), body });
    expect([method, path, answer.status, answer.body]).toEqual([
      method,
      path,
      status,
      { error: expect.stringMatching(/./) },
    ]);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  }
});

test('ERR-01 a request body that is no JSON or no object answers 400 with {error: text}', async () => {
  for (const raw of ['{', '[]', '"x"', 'null', '7']) {
    const answer = await rig.call('PUT', DEPLOYMENT, { raw });
    expect([raw, answer.status, answer.body]).toEqual([raw, 400, { error: expect.any(String) }]);
  }
});

test('ERR-06 an error of Platform REST has the key error only, and a SCIM error has status, detail and scimType', async () => {
  await rig.user('a@acme.example');
  const conflict = await rig.post(USERS, { userName: 'a@acme.example' });
  expect(Object.keys(conflict.body).sort()).toEqual(['detail', 'schemas', 'scimType', 'status']);
  const account = { email: 'a@acme.example', username: 'a@acme.example' };
  for (const answer of [
    await rig.post('/api/v1/users', account),
    await rig.post('/api/v1/users', {}),
    await rig.call('GET', '/api/v1/users', { key: null }),
    await rig.call('GET', '/api/v1/nothing'),
  ]) {
    expect(Object.keys(answer.body)).toEqual(['error']);
  }
});
