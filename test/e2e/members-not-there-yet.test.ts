// Tests members of a group whose user does not exist yet.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge();
});
afterAll(() => bridge.stop());

test.each([
  ['externalId', 'src-4711', { externalId: 'src-4711' }],
  ['userName, in another letter case,', 'LATE@acme.example', {}],
])(
  'a member value without a user is kept, and becomes a member when a user with this %s is created',
  async (_how, value, extra) => {
    const { idp, platform } = bridge;
    const userName = value.includes('@') ? value.toLowerCase() : 'later@acme.example';
    const name = `waiting for ${userName}`;
    const group = await idp.createGroup(name, [value]);
    expect((await idp.send('GET', `/Groups/${group}`)).body.members).toEqual([{ value }]);
    const id = await idp.createUser(userName, extra);
    expect((await idp.send('GET', `/Groups/${group}`)).body.members).toMatchObject([
      { value: id, type: 'User' },
    ]);
    await eventually('a member at the platform', async () =>
      (await platform.group(name))?.members.includes(userName),
    );
  },
);

test('a member value without a user is removed again → no reference waits for this user', async () => {
  const { idp, platform } = bridge;
  const group = await idp.createGroup('never mind', ['src-never']);
  await idp.patch(`/Groups/${group}`, { op: 'Remove', path: 'members', value: [{ value: 'src-never' }] });
  await idp.createUser('never@acme.example', { externalId: 'src-never' });
  await eventually('active', async () => (await platform.user('never@acme.example'))?.active);
  expect((await idp.send('GET', `/Groups/${group}`)).body.members).toEqual([]);
  expect((await platform.group('never mind'))?.members).toEqual([]);
});
