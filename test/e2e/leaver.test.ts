// Tests users who are deactivated or deleted, and who come back.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge();
});
afterAll(() => bridge.stop());

const applied = (userName: string, active: boolean) =>
  eventually(`${userName} is ${active ? 'active' : 'inactive'}`, async () => {
    const user = await bridge.platform.user(userName);
    return user?.active === active ? user : undefined;
  });

test('a deactivated user keeps the memberships, and the reactivation uses the former account', async () => {
  const { idp, platform } = bridge;
  const id = await idp.createUser('leaver@acme.example');
  await idp.createGroup('crew', [id]);
  await eventually('in the crew', async () =>
    (await platform.user('leaver@acme.example'))?.groups.includes('crew'),
  );
  const before = await applied('leaver@acme.example', true);
  await idp.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
  expect((await applied('leaver@acme.example', false)).groups).toEqual(['crew']);
  await idp.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' });
  expect((await applied('leaver@acme.example', true)).scimId).toBe(before.scimId);
});

test('a deleted user is deactivated and leaves all groups, and a new user with this userName gets the account', async () => {
  const { idp, platform } = bridge;
  const id = await idp.createUser('rehire@acme.example');
  await idp.createGroup('pilots', [id]);
  const before = await eventually('a pilot', async () => {
    const user = await platform.user('rehire@acme.example');
    return user?.active && user.groups.includes('pilots') ? user : undefined;
  });
  expect((await idp.send('DELETE', `/Users/${id}`)).status).toBe(204);
  expect((await idp.send('DELETE', `/Users/${id}`)).status).toBe(404);
  await eventually('gone', async () => {
    const user = await platform.user('rehire@acme.example');
    return user?.active === false && user.groups.length === 0;
  });
  await idp.createUser('rehire@acme.example', { externalId: 'another-source-id' });
  const after = await applied('rehire@acme.example', true);
  expect(after.scimId).toBe(before.scimId);
  expect(after.externalId).toBe('another-source-id');
});

test('POST of an inactive user with the same externalId reactivates it with 201 (Okta re-hire)', async () => {
  const { idp } = bridge;
  const id = await idp.createUser('revive@acme.example');
  await applied('revive@acme.example', true);
  await idp.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
  await applied('revive@acme.example', false);
  expect(await idp.createUser('revive@acme.example')).toBe(id);
  await applied('revive@acme.example', true);
});

test('a deactivation that is pushed behind 150 new users is applied before 100 of them are active', async () => {
  const { idp, platform } = bridge;
  const id = await idp.createUser('urgent@acme.example');
  await applied('urgent@acme.example', true);
  await platform.control('PATCH', '/faults', { latencyMs: 300 });
  await Promise.all(
    Array.from({ length: 150 }, (_, index) => idp.createUser(`backlog${index}@acme.example`)),
  );
  await idp.patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
  await applied('urgent@acme.example', false);
  const { users } = await platform.state();
  const arrived = users.filter(({ userName, active }) => userName.startsWith('backlog') && active).length;
  expect(arrived).toBeLessThan(100);
  await platform.control('PATCH', '/faults', {});
});
