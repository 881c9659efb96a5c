// Tests the client of the control plane against the sandbox.
import { PlatformAborted, PlatformConnection, PlatformResponse } from '../../../src/platform/library.ts';
import { thrownBy } from './fake-platform.ts';
import { all, startClientRig, type ClientRig } from './sandbox-rig.ts';

let rig: ClientRig;

beforeAll(async () => {
  rig = await startClientRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

test('deployments are listed with ids as text, and a scoped key lists only the deployments of its scope', async () => {
  const listed = await all(rig.client.deployments.list());
  expect(listed.map(({ id, name }) => [id, name])).toEqual([
    ['1', 'sales'],
    ['2', 'ops'],
  ]);
  expect(Date.parse(listed[0]?.createdAt ?? '')).not.toBeNaN();
  const scoped = rig.clientWith({ token: rig.key('scoped') });
  expect((await all(scoped.deployments.list())).map(({ id }) => id)).toEqual(['1']);
});

test('a list of 232 deployments is read to its end, page by page', async () => {
  await rig.fixtures({ deployments: Array.from({ length: 230 }, (_, place) => ({ name: `d${place}` })) });
  const ids = (await all(rig.client.deployments.list())).map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([232, 232]);
});

test('environments are listed with their REST and SQL addresses, and a filter by the type staging returns none if only production exists', async () => {
  const all1 = await all(rig.client.environments.list('1'));
  expect(all1.map(({ type }) => type)).toContain('production');
  expect(all1[0]).toMatchObject({
    restUrl: rig.ready.dataApiUrl,
    sql: { host: expect.any(String), port: expect.any(Number) },
  });
  expect(await all(rig.client.environments.list('1', { type: 'staging' }))).toEqual([]);
});

test('the staging environment of a branch is switched on by branch name and off by branch id', async () => {
  const branches = await all(rig.client.branches.list('1'));
  const feature = branches.find(({ name }) => name === 'feature-a');
  expect(feature).toMatchObject({ parentBranch: 'main', isStagingEnvironmentEnabled: false });
  const on = await rig.client.branches.setStaging('1', { branchName: 'feature-a' }, true);
  expect(on).toMatchObject({ id: feature?.id, isStagingEnvironmentEnabled: true });
  const staging = () => all(rig.client.environments.list('1', { type: 'staging' }));
  expect((await staging()).map(({ name }) => name)).toEqual(['feature-a']);
  await rig.client.branches.setStaging('1', { branchId: feature?.id ?? '' }, false);
  expect(await staging()).toEqual([]);
  const refused = await thrownBy(rig.client.branches.setStaging('1', { branchName: 'main' }, true));
  expect(refused).toMatchObject({ status: 400, platformMessage: expect.stringContaining('shared') });
});

test('a metadata token expires after an hour by default, or after the given time', async () => {
  const [environment] = await all(rig.client.environments.list('1', { type: 'production' }));
  const at = { deploymentId: '1', environmentId: environment?.id ?? '' };
  const lifetimeOf = async (expiresInSeconds?: number) => {
    const input = { securityContext: {}, ...(expiresInSeconds ? { expiresInSeconds } : {}) };
    const { token, createdAt, expiresAt } = await rig.client.environments.createMetaToken(at, input);
    expect(token.split('.')).toHaveLength(3);
    return (Date.parse(expiresAt) - Date.parse(createdAt)) / 1000;
  };
  expect([await lifetimeOf(), await lifetimeOf(60)]).toEqual([3600, 60]);
});

test('the versions of a deployment are listed, and switchVersion makes another listed version the current one', async () => {
  const versions = await rig.client.deployments.versions('1');
  const other = versions.find(({ isCurrent }) => !isCurrent);
  expect(other?.version).toEqual(expect.any(String));
  await rig.client.deployments.switchVersion('1', {
    releaseChannelVersion: other?.version ?? '',
    releaseChannel: other?.releaseChannel ?? '',
  });
  const current = (await rig.client.deployments.versions('1')).filter(({ isCurrent }) => isCurrent);
  expect(current.map(({ version }) => version)).toEqual([other?.version]);
  const unlisted = await thrownBy(
    rig.client.deployments.switchVersion('1', { releaseChannelVersion: '9.9.9' }),
  );
  expect(unlisted).toMatchObject({ name: 'PlatformResponse', status: 400 });
});

test('an audit export is parsed into rows whose cells may contain commas, quotes and line breaks', async () => {
  const attributes = { note: 'a, "b"\r\nc', unicode: 'ü✓' };
  await rig.fixtures({
    auditEvents: [
      { timestamp: '2026-01-02T00:00:00Z', userEmail: 'a@acme.example', eventName: 'Logged in', attributes },
      { timestamp: '2026-01-01T00:00:00Z', userEmail: 'b@acme.example', eventName: 'Logged out' },
    ],
  });
  const rows = await all(rig.client.auditLog.export({ end: '2026-01-03' }));
  expect(rows.map(({ userEmail, eventName }) => [userEmail, eventName])).toEqual([
    ['a@acme.example', 'Logged in'],
    ['b@acme.example', 'Logged out'],
  ]);
  expect(rows[0]?.attributes).toEqual(attributes);
  expect(Date.parse(rows[0]?.timestamp ?? '')).toBe(Date.parse('2026-01-02T00:00:00Z'));
  const filtered = await all(rig.client.auditLog.export({ eventName: 'Logged out', end: '2026-01-03' }));
  expect(filtered.map(({ userEmail }) => userEmail)).toEqual(['b@acme.example']);
});

test('a refused audit export throws PlatformResponse with the status 403', async () => {
  const viewer = rig.clientWith({ token: rig.key('viewer') });
  const fault = await thrownBy(all(viewer.auditLog.export()));
  expect(fault).toBeInstanceOf(PlatformResponse);
  expect(fault).toMatchObject({ status: 403, method: 'GET', mayHaveCommitted: false });
});

test('an audit export can be left early, and throws PlatformAborted when aborted and PlatformConnection when the connection is lost', async () => {
  const auditEvents = Array.from({ length: 5000 }, (_, place) => ({
    userEmail: `user${place}@acme.example`,
    eventName: 'Logged in',
    attributes: { text: 'x'.repeat(200) },
  }));
  await rig.fixtures({ auditEvents });
  let seen = 0;
  for await (const row of rig.client.auditLog.export()) {
    expect(row.eventName).toBe('Logged in');
    seen += 1;
    if (seen === 10) break;
  }
  const controller = new AbortController();
  const abortHalfway = async () => {
    for await (const _ of rig.client.auditLog.export({}, { signal: controller.signal })) controller.abort();
  };
  expect(await thrownBy(abortHalfway())).toBeInstanceOf(PlatformAborted);
  await rig.control('PATCH', '/faults', { dropAfter: true });
  expect(await thrownBy(all(rig.client.auditLog.export()))).toBeInstanceOf(PlatformConnection);
});
