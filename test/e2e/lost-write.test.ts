// Tests lost answers after the platform has executed the write: nothing is doubled and nothing is missing.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { request } from 'undici';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      if (config.targets.main) config.targets.main.timeoutMs = 500;
    },
  });
});
afterAll(() => bridge.stop());

test('BRIDGE-06 the answer to a create is lost → the account is found again and not created twice', async () => {
  const { idp, platform } = bridge;
  const script = [
    { method: 'POST', path: '/scim/v2/(Users|Groups)$', times: 2, timeoutAfterCommit: { share: 1 } },
  ];
  await platform.control('PATCH', '/faults', { rules: script });
  const id = await idp.createUser('lost@acme.example');
  await idp.createGroup('lost group', [id]);
  await eventually(
    'active in the group',
    async () => {
      const user = await platform.user('lost@acme.example');
      return user?.active && user.groups.includes('lost group');
    },
    20_000,
  );
  const { users, groups } = await platform.state();
  expect(users.filter(({ userName }) => userName === 'lost@acme.example')).toHaveLength(1);
  expect(groups.filter(({ displayName }) => displayName === 'lost group')).toHaveLength(1);
  await platform.control('PATCH', '/faults', {});
}, 40_000);

test('somebody deletes an account at the platform → the next push of the user creates it again with its memberships', async () => {
  const { idp, platform, sandbox } = bridge;
  const id = await idp.createUser('vanished@acme.example');
  await idp.createGroup('still a member', [id]);
  const user = await eventually('there', async () => {
    const found = await platform.user('vanished@acme.example');
    return found?.active && found.groups.length === 1 ? found : undefined;
  });
  const gone = await request(`${sandbox.ready.platformUrl}/api/scim/v2/Users/${user.scimId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${sandbox.ready.fixtures.apiKeys.admin}` },
  });
  expect(gone.statusCode).toBe(204);
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Back Again' });
  const back = await eventually('back', async () => {
    const found = await platform.user('vanished@acme.example');
    return found?.active && found.groups.length === 1 ? found : undefined;
  });
  expect(back.scimId).not.toBe(user.scimId);
});

test('the platform answers 429 with Retry-After: 2 → the bridge sends no call for two seconds, and then creates the user', async () => {
  const { idp, platform } = bridge;
  await platform.control('PATCH', '/faults', {
    rules: [{ method: 'POST', path: '/scim/v2/Users$', times: 1, status429: { share: 1, retryAfter: 2 } }],
  });
  await platform.forgetRequests();
  await idp.createUser('limited@acme.example');
  await eventually('applied', async () => (await platform.user('limited@acme.example'))?.active, 20_000);
  const calls = await platform.requests();
  const refused = calls.findIndex(({ status }) => status === 429);
  const next = calls[refused + 1];
  expect((next?.atMs ?? 0) - (calls[refused]?.atMs ?? 0)).toBeGreaterThanOrEqual(1900);
  await platform.control('PATCH', '/faults', {});
}, 40_000);
