// Tests versions, channels and settings of a deployment (contract 4.5).
import { startRig, type Rig } from './rig.ts';

const DEPLOYMENT = '/api/v1/deployments/1';
let rig: Rig;

interface Version {
  releaseChannelVersion: string;
  version: string;
  releaseChannel: string;
  isLatestInChannel: boolean;
  isCurrent: boolean;
}

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const versions = async (deploymentId = '1'): Promise<Version[]> =>
  (await rig.call('GET', `/api/v1/deployments/${deploymentId}/versions`)).body.data;
const put = (body: unknown, key = rig.key('admin')) => rig.call('PUT', DEPLOYMENT, { key, body });
const current = async () => (await versions()).filter((one) => one.isCurrent).map((one) => one.version);
const has = async (version: string) => (await versions()).some((one) => one.version === version);

test('REC-07 an entry of the list of versions has exactly the keys of the contract, and its image ends with its version', async () => {
  for (const entry of await versions()) {
    expect(entry).toEqual({
      releaseChannelVersion: expect.stringMatching(/^.+:v\d+\.\d+\.\d+$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      releaseChannel: expect.any(String),
      isLatestInChannel: expect.any(Boolean),
      isCurrent: expect.any(Boolean),
    });
    expect(entry.releaseChannelVersion.endsWith(`:v${entry.version}`)).toBe(true);
  }
});

test('VER-01 the list of versions contains the newest version of each channel', async () => {
  const { body } = await rig.call('GET', `${DEPLOYMENT}/versions`);
  const heads = body.data.filter((one: Version) => one.isLatestInChannel);
  expect(heads.map((one: Version) => [one.releaseChannel, one.version])).toEqual([
    ['latest', '1.7.22'],
    ['release', '1.6.48'],
  ]);
  expect(body.items).toEqual(body.data);
});

test('VER-02 an older version that the deployment has run stays in the list, and one that it has not run is not listed', async () => {
  await put({ releaseChannelVersion: '1.7.20' });
  await put({ releaseChannel: 'latest' });
  expect([await has('1.7.20'), await has('1.7.19')]).toEqual([true, false]);
  await rig.control('POST', '/fixtures', { releases: [{ channel: 'latest', version: '1.10.0' }] });
  const entry = (await versions()).find((one) => one.version === '1.7.22');
  expect(entry).toMatchObject({ isLatestInChannel: false, isCurrent: true });
  expect((await versions()).find((one) => one.isLatestInChannel)?.version).toBe('1.10.0');
});

test('VER-03 each deployment has exactly one current version', async () => {
  for (const id of ['1', '2']) {
    expect((await versions(id)).filter((one) => one.isCurrent)).toHaveLength(1);
  }
});

test("VER-04 VER-05 VER-06 a deployment's version can be set by number, by number with v, and by image", async () => {
  const image = (await versions()).find((one) => one.version === '1.7.21')?.releaseChannelVersion;
  for (const [sent, version] of [
    ['1.7.20', '1.7.20'],
    ['v1.7.22', '1.7.22'],
    [image, '1.7.21'],
  ]) {
    const answer = await put({ releaseChannelVersion: sent });
    expect([answer.status, await current()]).toEqual([200, [version]]);
  }
  expect((await rig.call('GET', DEPLOYMENT)).body).toMatchObject({
    releaseChannelVersion: image,
    releaseChannelVersionHold: true,
  });
});

test('VER-07 VER-08 setting a version that is not listed, or has another image, answers 400 and changes nothing', async () => {
  for (const version of ['9.9.9', '1.7.19', 'other:v1.7.20', '1.7', '', 'v', 'vv1.7.20', '1.7.20; rm']) {
    expect([version, (await put({ releaseChannelVersion: version, name: 'x' })).status]).toEqual([
      version,
      400,
    ]);
  }
  expect((await put({ releaseChannelVersion: 1.7 })).status).toBe(400);
  expect((await put({ releaseChannelVersion: '1.6.48', releaseChannel: 'latest' })).status).toBe(400);
  expect(await current()).toEqual(['1.7.22']);
  expect((await rig.call('GET', DEPLOYMENT)).body.name).toBe('sales');
});

test('VER-09 the key image in an update of a deployment is ignored, and the version determines the image', async () => {
  const { status, body } = await put({ image: 'evil:v1', releaseChannelVersion: '1.7.20' });
  expect(status).toBe(200);
  expect(JSON.stringify(body)).not.toContain('evil');
  expect(body.releaseChannelVersion).toMatch(/:v1\.7\.20$/);
});

test('VER-10 setting a release channel without a version makes the newest version of the channel current', async () => {
  const { body } = await put({ releaseChannel: 'release' });
  expect(body).toMatchObject({ releaseChannel: 'release', releaseChannelVersionHold: false });
  expect(await current()).toEqual(['1.6.48']);
});

test('VER-04 setting each listed version of any channel answers 200 and makes it current', async () => {
  for (const { releaseChannelVersion, version } of await versions()) {
    expect((await put({ releaseChannelVersion })).status).toBe(200);
    expect(await current()).toEqual([version]);
  }
});

test('VER-11 setting an unknown release channel answers 400', async () => {
  expect((await put({ releaseChannel: 'nightly' })).status).toBe(400);
});

test('VER-12 an update of a deployment changes the fields sent, keeps fields that are absent or null, and may be empty', async () => {
  const { body } = await put({ name: 'sales-eu', releaseChannelVersion: null, templateVariables: { a: 1 } });
  expect(body).toMatchObject({ name: 'sales-eu', releaseChannel: 'latest', templateVariables: { a: 1 } });
  expect((await put({ templateVariables: { b: 2 } })).body.templateVariables).toEqual({ a: 1, b: 2 });
  expect((await put({})).status).toBe(200);
  expect(await current()).toEqual(['1.7.22']);
});

test('updating a deployment answers 403 without DeploymentUpdate, and 200 with a manage grant', async () => {
  expect((await put({ name: 'x' }, rig.key('viewer'))).status).toBe(403);
  await rig.control('POST', '/fixtures', {
    grants: [{ user: 'viewer@acme.example', type: 'DEPLOYMENT', id: '1', action: 'manage' }],
  });
  expect((await put({ name: 'x' }, rig.key('viewer'))).status).toBe(200);
});
