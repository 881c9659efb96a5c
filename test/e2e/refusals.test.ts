// Tests refusals of the platform: each becomes a dead letter with the platform's message.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';
import { send } from '../support/send.ts';

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

test('the platform refuses the reserved name of a group → changes of other resources are not delayed', async () => {
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

test('the platform refuses the new name of a group → a leaver is still removed from this group', async () => {
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

test('under adopt: report an existing account is not linked and gets no externalId, and its user is a dead letter', async () => {
  const { idp, platform } = bridge;
  await idp.createUser('there@acme.example');
  await blocked(2);
  expect((await platform.user('there@acme.example'))?.externalId ?? null).toBeNull();
});

test('BRIDGE-13 a protected user gets no account, and the owner of the API key is not deactivated', async () => {
  const { idp, platform } = bridge;
  await platform.forgetRequests();
  await idp.createUser('boss@acme.example');
  await idp.createUser('admin@acme.example', { active: false });
  await idp.createUser('after@acme.example');
  await eventually('later ones arrive', async () => (await platform.user('after@acme.example'))?.active);
  expect(await platform.user('boss@acme.example')).toBeUndefined();
  expect((await platform.user('admin@acme.example'))?.active).toBe(true);
});

test('BRIDGE-14 after accepted, refused and failed requests and writes, the log contains no token, name or attribute value', async () => {
  const { idp, platform, logs, sandbox, app } = bridge;
  const userName = 'private@acme.example';
  const extension = 'urn:cube:params:1.0:UserAttribute';
  const id = await idp.createUser(userName, { title: 'very-secret-team', displayName: 'Very Private' });
  await eventually('arrived', async () => (await platform.user(userName))?.active);
  await idp.send('GET', `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`);
  await idp.send('POST', '/Users/.search', { filter: `title eq "very-secret-team"` });
  // Requests that the bridge refuses: a wrong token, a token in the address, a taken name, invalid bodies.
  await idp.send('GET', '/Users', undefined, { authorization: 'Bearer wrong-inbound-token' });
  await idp.send('GET', '/Users?access_token=token-in-the-address');
  expect((await idp.send('POST', '/Users', { userName, title: 'very-secret-team' })).status).toBe(409);
  await idp.send('POST', '/Users', { userName, active: 'very-secret-state', emails: 'private-mail' });
  await idp.send('POST', '/Users', { userName, [extension]: { level: 'very-secret-level' } });
  const headers = { authorization: 'Bearer wrong-admin-token' };
  await send(`http://127.0.0.1:${app.port}`, 'GET', '/admin/v1/status', { headers });
  // Writes that the platform refuses or loses: a value of another type, errors, a reserved name.
  await platform.control('PATCH', '/faults', {
    status5xx: { share: 0.3 },
    dropAfter: { share: 0.1 },
    seed: 7,
  });
  const other = await idp.createUser('second-private@acme.example', { title: 'very-secret-team' });
  await idp.patch(`/Users/${id}`, { op: 'replace', value: { title: 'other-secret-team', active: false } });
  const group = await idp.createGroup('system:private-group', [other]);
  await eventually('the change arrives', async () => (await platform.user(userName))?.active === false);
  await platform.control('PATCH', '/faults', {});
  await idp.send('DELETE', `/Users/${id}`);
  await idp.send('DELETE', `/Groups/${group}`);
  await bridge.idle();
  const all = logs.join('');
  for (const ref of [id, other, group]) expect(all).toContain(ref);
  for (const secret of [
    ...['very-secret', 'other-secret', 'private@acme', 'Very Private', 'private-mail', 'private-group'],
    // Values of the tests above: existing accounts, protected names, refused groups.
    ...['@acme.example', 'system:'],
    ...['wrong-inbound-token', 'token-in-the-address', 'wrong-admin-token', 'a-token-for-tests-only'],
    ...Object.values(sandbox.ready.fixtures.apiKeys),
  ]) {
    const line = logs.find((text) => text.includes(secret));
    expect([secret, line]).toEqual([secret, undefined]);
  }
}, 120_000);
