// Tests the list of deployments: both paging styles, pages and access (contract 4.0 and 4.1).
import { startRig, type Rig } from './rig.ts';

const DEPLOYMENTS = '/api/v1/deployments';
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const list = (query = '', key = rig.key('admin')) => rig.call('GET', `${DEPLOYMENTS}${query}`, { key });
/** Creates 23 deployments beside the two of the seed. */
const fill = () => {
  const deployments = Array.from({ length: 23 }, (_, place) => ({ name: `extra-${place + 3}` }));
  return rig.control('POST', '/fixtures', { deployments });
};
/** Creates a user without roles, whose key has every deployment in its scope. */
async function newcomer(grants: object[] = []): Promise<string> {
  const { body } = await rig.control('POST', '/fixtures', {
    users: [{ userName: 'new@acme.example', roles: [] }],
    apiKeys: [{ name: 'new', owner: 'new@acme.example' }],
    grants: grants.map((grant) => ({ user: 'new@acme.example', ...grant })),
  });
  return body.apiKeys[0].key;
}

test('AUTH-06 the control plane accepts an API key with the scheme Bearer', async () => {
  expect((await list()).status).toBe(200);
});

test('AUTH-07 the control plane accepts an OAuth token', async () => {
  expect((await list('', rig.ready.fixtures.oauthToken)).status).toBe(200);
});

test('AUTH-12 a scoped key gets 200 from the deployment in its scope', async () => {
  const { status } = await rig.call('GET', `${DEPLOYMENTS}/1/environments`, { key: rig.key('scoped') });
  expect(status).toBe(200);
});

test('AUTH-14 a key of one deployment that changes another deployment below /build/api gets 403', async () => {
  const path = '/build/api/v1/deployments/2/branches/staging-environment';
  const body = { enabled: true, branchName: 'main' };
  expect((await rig.call('PUT', path, { key: rig.key('scoped'), body })).status).toBe(403);
});

test('AUTH-15 an unscoped key lists every deployment and gets 200 from each', async () => {
  await fill();
  const { body } = await list('?limit=100');
  expect(body.data.deployments).toHaveLength(25);
  for (const { id } of body.data.deployments) {
    expect((await rig.call('GET', `${DEPLOYMENTS}/${id}/environments`)).status).toBe(200);
  }
});

test('AUTH-17 a scoped key lists only its deployment, as data with pagination and as items', async () => {
  const { body } = await list('', rig.key('scoped'));
  expect(body.data.deployments.map((one: { id: string }) => one.id)).toEqual(['1']);
  expect(body.items.map((one: { id: number }) => one.id)).toEqual([1]);
  expect(body.pagination.total).toBe(1);
});

test('GEN-03 one API key gets 200 from Platform REST, the build paths and SCIM', async () => {
  for (const path of ['/api/v1/users/me', '/build/api/v1/deployments/1/branches', '/api/scim/v2/Users']) {
    expect((await rig.call('GET', path)).status).toBe(200);
  }
});

test('GEN-06 on a subscription that is not hosted, control-plane operations answer 404 and /users/me 200', async () => {
  await rig.control('PATCH', '/settings', { plan: { hosted: false } });
  const operations: [string, string, object?][] = [
    ['GET', DEPLOYMENTS],
    ['GET', `${DEPLOYMENTS}/1/environments`],
    ['POST', `${DEPLOYMENTS}/1/environments/1/tokens-for-meta-sync`, { security_context: {} }],
    ['GET', `${DEPLOYMENTS}/1/versions`],
    ['PUT', `${DEPLOYMENTS}/1`, {}],
    ['GET', '/build/api/v1/deployments/1/branches'],
    ['PUT', '/build/api/v1/deployments/1/branches/staging-environment', { enabled: true, branchId: 2 }],
    ['GET', '/api/v1/audit-logs/export'],
  ];
  for (const [method, path, body] of operations) {
    expect([path, (await rig.call(method, path, { body })).status]).toEqual([path, 404]);
  }
  expect((await rig.call('GET', '/api/v1/users/me')).status).toBe(200);
});

test('REC-01 an entry of the list of deployments has id and name as text and created_at as an ISO time', async () => {
  const { body } = await list();
  expect(body.data.deployments[0]).toEqual({ id: '1', name: 'sales', created_at: expect.any(String) });
  const createdAt = body.data.deployments[0].created_at;
  expect(new Date(createdAt).toISOString()).toBe(createdAt);
});

test('REC-08 PAGE-03 the lists of deployments and environments have pagination with whole numbers as limit, offset and total', async () => {
  for (const path of [DEPLOYMENTS, `${DEPLOYMENTS}/1/environments`]) {
    const { body } = await rig.call('GET', path);
    expect(Object.keys(body.pagination).sort()).toEqual(['limit', 'offset', 'total']);
    expect(Object.values(body.pagination).every(Number.isInteger)).toBe(true);
  }
});

test('PAGE-01 a list of deployments without parameters has offset 0 and limit 20', async () => {
  await fill();
  const { body } = await list();
  expect(body.data.deployments).toHaveLength(20);
  expect(body.pagination).toEqual({ offset: 0, limit: 20, total: 25 });
});

test('PAGE-02 PAGE-04 offset and limit select a page of deployments, and total counts all of them', async () => {
  await fill();
  const { body } = await list('?offset=20&limit=10');
  expect(body.data.deployments.map((one: { id: string }) => one.id)).toEqual(['21', '22', '23', '24', '25']);
  expect(body.pagination).toEqual({ offset: 20, limit: 10, total: 25 });
  expect((await list('?offset=3&limit=4')).body.pagination.total).toBe(25);
  expect((await list('?offset=99')).body).toMatchObject({
    data: { deployments: [] },
    pagination: { total: 25 },
  });
});

test('PAGE-05 a list of deployments with limit 0 is empty and has the true total', async () => {
  expect((await list('?limit=0')).body).toMatchObject({
    data: { deployments: [] },
    pagination: { offset: 0, limit: 0, total: 2 },
  });
});

test('PAGE-06 PAGE-08 a list of deployments with invalid paging numbers, or a cursor of another list, answers 400', async () => {
  const foreign = (await rig.call('GET', '/api/v1/users?first=1')).body.pageInfo.endCursor;
  for (const query of [
    '?offset=-1',
    '?limit=x',
    '?limit=1.5',
    '?first=0',
    '?after=abc',
    `?first=1&after=${foreign}`,
  ]) {
    expect([query, (await list(query)).status]).toEqual([query, 400]);
  }
});

test('PAGE-07 pages by cursor together list each deployment once', async () => {
  await fill();
  const seen: number[] = [];
  for (let after = '', isMore = true; isMore;) {
    const { body } = await list(`?first=7${after}`);
    seen.push(...body.items.map((one: { id: number }) => one.id));
    isMore = body.pageInfo.hasNextPage;
    after = `&after=${body.pageInfo.endCursor}`;
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, place) => place + 1));
});

test('PAGE-09 without `first` the items of the list have every deployment', async () => {
  await fill();
  expect((await list()).body.items).toHaveLength(25);
});

test('PAGE-10 a list of deployments with a trailing slash in its address is the same as without it', async () => {
  expect((await list('/')).body).toEqual((await list()).body);
});

test('DEPL-01 the list has only deployments for which the user has a grant, and another deployment answers 403', async () => {
  const key = await newcomer([{ type: 'DEPLOYMENT', id: '2', action: 'read' }]);
  const { body } = await list('', key);
  expect(body.data.deployments).toEqual([{ id: '2', name: 'ops', created_at: expect.any(String) }]);
  expect((await rig.call('GET', `${DEPLOYMENTS}/2/environments`, { key })).status).toBe(200);
  expect((await rig.call('GET', `${DEPLOYMENTS}/1/environments`, { key })).status).toBe(403);
});

test('DEPL-01 a user with a read grant on a folder of a deployment sees this deployment in the list', async () => {
  const { body } = await rig.control('POST', '/fixtures', {
    folders: [{ deploymentId: '2', name: 'Plans' }],
  });
  const key = await newcomer([{ type: 'FOLDER', id: body.folders[0].id, action: 'read' }]);
  expect((await list('', key)).body.items.map((one: { id: number }) => one.id)).toEqual([2]);
});

test('DEPL-01 a user whose role has DeploymentRead for one deployment lists only this one, and reads the policy at /users/me', async () => {
  const policies = [{ resourceType: 'Deployment', actions: ['DeploymentRead'], resources: ['1'] }];
  const { body } = await rig.control('POST', '/fixtures', {
    roles: [{ name: 'Reader', policies }],
    users: [{ userName: 'r@acme.example', roles: ['Reader'] }],
    apiKeys: [{ name: 'r', owner: 'r@acme.example' }],
  });
  expect((await list('', body.apiKeys[0].key)).body.items).toMatchObject([{ id: 1 }]);
  expect((await list('', await newcomer())).body.items).toEqual([]);
  const me = await rig.call('GET', '/api/v1/users/me', { key: body.apiKeys[0].key });
  expect(me.body.policies).toEqual(policies);
});

test('DEPL-02 a list of deployments with offset and limit returns data.deployments with pagination', async () => {
  const { body } = await list('?offset=1&limit=1');
  expect(body).toMatchObject({
    data: { deployments: [{ id: '2', name: 'ops' }] },
    pagination: { offset: 1, limit: 1, total: 2 },
  });
});

test('DEPL-03 a list of deployments with `first` returns items with pageInfo', async () => {
  await fill();
  const { body } = await list('/?first=2');
  expect(body.items).toMatchObject([
    { id: 1, name: 'sales' },
    { id: 2, name: 'ops' },
  ]);
  expect(body.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
});

test('DEPL-04 data.deployments and items of one answer have the same deployments', async () => {
  await fill();
  const { body } = await list('?limit=100');
  const ids = (items: { id: unknown }[]) => items.map((one) => String(one.id)).sort();
  expect(ids(body.data.deployments)).toEqual(ids(body.items));
});
