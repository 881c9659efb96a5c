// Tests which tokens the data API accepts, and what a meta-sync token may read (contract 1.1, 1.3 and 4.3).
import { EVERYTHING, inGroups, makeToken, startDataRig, type DataRig } from './data-rig.ts';

const ENVIRONMENTS = '/api/v1/deployments/1/environments';
const QUERY = { query: { measures: ['orders.count'] } };
let rig: DataRig;

beforeAll(async () => {
  rig = await startDataRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

/** Returns a meta-sync token of the production environment of deployment 1. */
async function metaToken(context: object, more: object = {}): Promise<string> {
  const body = { security_context: context, ...more };
  return (await rig.post(`${ENVIRONMENTS}/1/tokens-for-meta-sync`, body)).body.data.token;
}
const entityNames = async (token: string): Promise<string[]> => {
  const { body } = await rig.ask('GET', '/v1/entities', { token });
  return body.data.entities.map((one: { name: string }) => one.name);
};

test('AUTH-08 the data API accepts a token with and without the prefix Bearer', async () => {
  const token = rig.token(EVERYTHING);
  for (const sent of [token, `Bearer ${token}`]) {
    expect((await rig.ask('GET', '/v1/meta', { token: sent })).status).toBe(200);
  }
});

test('AUTH-09 a data API token with an unknown secret, an unsigned one and an API key answer 403 Invalid token', async () => {
  const [head, claims] = rig.token(EVERYTHING).split('.');
  const foreign = makeToken('a-secret-of-somebody-else', EVERYTHING, Date.now());
  for (const token of [foreign, `${head}.${claims}.`, rig.key('admin')]) {
    const answer = await rig.ask('GET', '/v1/meta', { token });
    expect([answer.status, answer.body.error]).toEqual([403, 'Invalid token']);
  }
});

test('AUTH-24 the data API answers 403 with one fixed text for a missing token, and another for an invalid one', async () => {
  const expired = { ...EVERYTHING, exp: Math.floor(Date.now() / 1000) - 1 };
  for (const [path, method] of [
    ['/v1/meta', 'GET'],
    ['/v1/load', 'POST'],
    ['/v1/cubesql', 'POST'],
  ] as const) {
    const missing = await rig.ask(method, path, { token: null });
    expect([missing.status, missing.body.error]).toEqual([403, "Authorization header isn't set"]);
    for (const token of ['nonsense', expired]) {
      const bad = await rig.ask(method, path, { token });
      expect([bad.status, bad.body.error]).toEqual([403, 'Invalid token']);
    }
  }
});

test('AUTH-25 META-08 a data query with a meta-sync token answers 403 and names the missing scope', async () => {
  const token = await metaToken(EVERYTHING);
  for (const [path, body] of [
    ['/v1/load', QUERY],
    ['/v1/cubesql', { query: 'SELECT 1' }],
  ] as const) {
    const answer = await rig.ask('POST', path, { token, body });
    expect([path, answer.status, answer.body.error]).toEqual([path, 403, 'API scope is missing: data']);
  }
});

test('META-06 META-07 a meta-sync token gets 200 from /v1/data-sources, /v1/entities and /v1/meta', async () => {
  const token = await metaToken(EVERYTHING);
  for (const path of ['/v1/data-sources', '/v1/entities', '/v1/meta']) {
    expect([path, (await rig.ask('GET', path, { token })).status]).toEqual([path, 200]);
  }
});

test('META-09 a meta-sync token lists only the entities that its security context may see', async () => {
  expect(await entityNames(await metaToken(EVERYTHING))).toContain('orders');
  expect(await entityNames(await metaToken(inGroups(['strangers'])))).not.toContain('orders');
});

test('META-10 a meta-sync token answers 200 before its expiry and 403 after it', async () => {
  const token = await metaToken(EVERYTHING, { expires_in: 60 });
  // Token times are whole seconds, so a token that is created within a second ends in less than a minute.
  await rig.control('POST', '/clock', { advanceMs: 50_000 });
  expect((await rig.ask('GET', '/v1/meta', { token })).status).toBe(200);
  await rig.control('POST', '/clock', { advanceMs: 11_000 });
  expect((await rig.ask('GET', '/v1/meta', { token })).status).toBe(403);
});

test('META-12 a meta-sync token whose security context names the scopes data and chat gets 403 for a data query', async () => {
  const token = await metaToken({ ...EVERYTHING, scope: ['data', 'chat'] });
  expect((await rig.ask('POST', '/v1/load', { token, body: QUERY })).status).toBe(403);
});

test('REC-02 the data API answers 200 at the address of each environment', async () => {
  const body = { enabled: true, branchName: 'feature-a' };
  await rig.call('PUT', '/build/api/v1/deployments/1/branches/staging-environment', { body });
  const { data } = (await rig.call('GET', ENVIRONMENTS)).body;
  expect(data.environments).toHaveLength(3);
  for (const { api_credentials: credentials } of data.environments) {
    const prefix = credentials.rest.url.slice(rig.ready.platformUrl.length);
    expect([prefix, (await rig.ask('GET', '/v1/meta', {}, prefix)).status]).toEqual([prefix, 200]);
  }
});
