// Tests branches and their staging environments in the sandbox (contract 4.4).
import { startRig, type Rig } from './rig.ts';

const BRANCHES = '/build/api/v1/deployments/1/branches';
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const put = (body: unknown, key = rig.key('admin')) =>
  rig.call('PUT', `${BRANCHES}/staging-environment`, { key, body });
const branches = async () => (await rig.call('GET', BRANCHES)).body.data;

test('REC-05 a branch has id, name, parentBranch, lastHash and isStagingEnvironmentEnabled', async () => {
  for (const branch of await branches()) {
    expect(branch).toEqual({
      id: expect.any(Number),
      name: expect.any(String),
      parentBranch: expect.any(String),
      lastHash: expect.stringMatching(/^[0-9a-f]{40}$/),
      isStagingEnvironmentEnabled: expect.any(Boolean),
    });
    expect(Number.isInteger(branch.id)).toBe(true);
  }
});

test('REC-06 isStagingEnvironmentEnabled is false for a new shared branch', async () => {
  await rig.control('POST', '/fixtures', { deployments: [{ name: 'lab', branches: ['main', 'fresh'] }] });
  const { body } = await rig.call('GET', '/build/api/v1/deployments/3/branches');
  expect(body.data[1]).toMatchObject({
    name: 'fresh',
    parentBranch: 'main',
    isStagingEnvironmentEnabled: false,
  });
});

test('BRANCH-01 switching the staging environment of a branch without `enabled`, or with one that is no boolean, answers 400', async () => {
  for (const enabled of [undefined, null, 'true', 1]) {
    expect((await put({ enabled, branchName: 'feature-a' })).status).toBe(400);
  }
  expect((await put(undefined)).status).toBe(400);
});

test('BRANCH-02 switching the staging environment of a branch that is named by branchName alone answers 200', async () => {
  expect((await put({ enabled: true, branchName: 'feature-a' })).status).toBe(200);
});

test('BRANCH-03 BRANCH-11 switching the staging environment of a branch that is named by its id answers 200', async () => {
  const shared = (await branches()).find((one: { name: string }) => one.name === 'feature-a');
  const { status, body } = await put({ enabled: true, branchId: shared.id });
  expect([status, body.data.name]).toEqual([200, 'feature-a']);
  expect((await put({ enabled: false, branchId: shared.id, branchName: null })).status).toBe(200);
});

test('BRANCH-04 switching the staging environment of a branch that is named by branchName and by id answers 400', async () => {
  expect((await put({ enabled: true, branchName: 'feature-a', branchId: 2 })).status).toBe(400);
});

test('BRANCH-05 switching a staging environment without branchName and id, or with one of another type, answers 400', async () => {
  for (const body of [{}, { branchId: '2' }, { branchId: 1.5 }, { branchName: 7 }, { branchName: '' }]) {
    expect((await put({ enabled: true, ...body })).status).toBe(400);
  }
});

test('BRANCH-06 BRANCH-07 switching the staging environment of the production branch or of a personal branch answers 400 and changes nothing', async () => {
  for (const enabled of [true, false]) {
    for (const branchName of ['main', 'dev-admin']) {
      const answer = await put({ enabled, branchName });
      expect([answer.status, answer.body]).toEqual([400, { error: expect.any(String) }]);
    }
  }
  expect((await branches()).some((one: any) => one.isStagingEnvironmentEnabled)).toBe(false);
});

test('BRANCH-08 switching the staging environment of a branch to the state that it already has answers 200', async () => {
  for (const enabled of [false, true, true]) {
    const { status, body } = await put({ enabled, branchName: 'feature-a' });
    expect([status, body.data.isStagingEnvironmentEnabled]).toEqual([200, enabled]);
  }
});

test('BRANCH-09 switching the staging environment of a branch answers {data} with the changed branch', async () => {
  const { body } = await put({ enabled: true, branchName: 'feature-a' });
  const [, shared] = await branches();
  expect(body).toEqual({ data: shared });
});

test('BRANCH-10 switching the staging environment of an unknown branch answers 404', async () => {
  expect((await put({ enabled: true, branchName: 'nowhere' })).status).toBe(404);
  expect((await put({ enabled: true, branchId: 4 })).status).toBe(404);
});

test('switching a staging environment without SchemaUpdate answers 403, after the checks of body and branch, and 200 with an edit grant', async () => {
  const key = rig.key('viewer');
  expect((await put({ branchName: 'feature-a' }, key)).status).toBe(400);
  expect((await put({ enabled: true, branchName: 'nowhere' }, key)).status).toBe(404);
  expect((await put({ enabled: true, branchName: 'main' }, key)).status).toBe(403);
  await rig.control('POST', '/fixtures', {
    grants: [{ user: 'viewer@acme.example', type: 'DEPLOYMENT', id: '1', action: 'edit' }],
  });
  expect((await put({ enabled: true, branchName: 'feature-a' }, key)).status).toBe(200);
});
