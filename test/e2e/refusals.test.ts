// Tests refusals of the platform: each becomes a dead letter with the platform's message.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      const target = config.targets.main;
      if (!target) return;
      target.adopt = 'report';
      target.users.protected = ['Boss@acme.example'];
      Object.assign(target.attributes, {
        level: { type: 'number', from: 'urn:cube:params:1.0:UserAttribute:level', onEmpty: 'keep' },
        team: { type: 'string', from: 'title', onEmpty: 'keep' },
      });
    },
    sandbox: {},
  });
  const { platform } = bridge;
  await platform.control('POST', '/fixtures', {
    users: [{ userName: 'there@acme.example', email: 'there@acme.example' }],
  });
});
afterAll(() => bridge.stop());

const blocked = (count: number) =>
  eventually(`${count} need a person`, async () => (await targetHealth(bridge)).blocked === count);

test('a reserved group name is refused and others go on', async () => {
  const { idp, platform } = bridge;
  const id = await idp.createUser('free@acme.example');
  await idp.createGroup('system:all', [id]);
  await idp.createGroup('fine', [id]);
  await blocked(1);
  const user = await eventually('in the other group and active', async () => {
    const found = await platform.user('free@acme.example');
    return found?.active && found.groups.includes('fine') ? found : undefined;
  });
  expect(user.groups).toEqual(['fine']);
});

test('a refused new name keeps nobody in the group', async () => {
  const { idp, platform } = bridge;
  const stays = await idp.createUser('stays@acme.example');
  const leaves = await idp.createUser('leaves@acme.example');
  const group = await idp.createGroup('named', [stays, leaves]);
  const members = async () => (await platform.group('named'))?.members.toSorted();
  await eventually('both are in', async () => (await members())?.length === 2);
  const renamed = { displayName: 'system:named', members: [{ value: stays }] };
  await idp.send('PUT', `/Groups/${group}`, renamed);
  await blocked(2);
  expect(await members()).toEqual(['stays@acme.example']);
  await idp.send('PUT', `/Groups/${group}`, { ...renamed, displayName: 'named' });
  await blocked(1);
});

test('an account that exists is only reported while adopt is report', async () => {
  const { idp, platform } = bridge;
  await idp.createUser('there@acme.example');
  await blocked(2);
  expect((await platform.user('there@acme.example'))?.externalId ?? null).toBeNull();
});

test('BRIDGE-13 protected names and the owner of the key are never touched', async () => {
  const { idp, platform } = bridge;
  await platform.forgetRequests();
  await idp.createUser('boss@acme.example');
  await idp.createUser('admin@acme.example', { active: false });
  await idp.createUser('after@acme.example');
  await eventually('later ones arrive', async () => (await platform.user('after@acme.example'))?.active);
  expect(await platform.user('boss@acme.example')).toBeUndefined();
  expect((await platform.user('admin@acme.example'))?.active).toBe(true);
});

test('BRIDGE-14 neither tokens nor names nor attribute values are in the log', async () => {
  const { idp, platform, logs, sandbox } = bridge;
  const id = await idp.createUser('private@acme.example', { title: 'very-secret-team' });
  await eventually('arrived', async () => (await platform.user('private@acme.example'))?.active);
  await idp.send('GET', `/Users?filter=${encodeURIComponent('userName eq "private@acme.example"')}`);
  const all = logs.join('');
  expect(all).toContain(id);
  for (const secret of [
    'very-secret-team',
    'private@acme.example',
    'a-token-for-tests-only',
    sandbox.ready.fixtures.apiKeys.admin,
  ]) {
    expect(all).not.toContain(secret);
  }
});
