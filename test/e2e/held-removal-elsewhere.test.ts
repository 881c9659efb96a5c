// Tests plan, sync and explain of a group whose new members wait for their held removals from another group.
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';

const removeMembers = { count: 0, percent: 0 };
const EVE = 'eve@acme.example';

let bridge: Bridge;
let commands: Commands;

beforeAll(async () => {
  bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (main) main.guard.removeMembers = removeMembers;
    },
  });
  commands = createCommands({
    redis: { url: process.env.TEST_REDIS_URL, prefix: bridge.config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: bridge.sandbox.ready.platformUrl,
        token: bridge.sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        guard: { removeMembers },
      },
    },
    reconcile: { schedule: null },
  });
  const { idp } = bridge;
  const eve = await idp.createUser(EVE);
  const bob = await idp.createUser('bob@acme.example');
  const finance = await idp.createGroup('Finance', [eve, bob]);
  const sales = await idp.createGroup('Sales', [bob]);
  await bridge.idle();
  await idp.patch(`/Groups/${finance}`, { op: 'remove', path: `members[value eq "${eve}"]` });
  await bridge.idle();
  await idp.patch(`/Groups/${sales}`, { op: 'add', path: 'members', value: [{ value: eve }] });
  await bridge.idle();
}, 60_000);
afterAll(async () => {
  commands.remove();
  await bridge.stop();
});

test('plan promises no addition of a person while a removal of this person is held', async () => {
  const { text } = await commands.run('plan', '--all');
  expect(text).toContain('waits for the held removal of the person from another group');
  expect(text).not.toContain('1 membership to add');
});

test('sync and explain of the other group say that its new member waits', async () => {
  const { json, code } = await commands.run('sync', 'Sales', '--json');
  expect([json].flat()[0]).toMatchObject({ outcome: 'held', message: expect.stringContaining(EVE) });
  expect(code).toBe(2);
  const [found] = (await commands.run('explain', 'Sales', '--json')).json;
  expect(found.verdict).toBe('held');
  expect(found.summary).not.toContain('as desired');
});

test('after the approval the person is in the other group alone', async () => {
  const [approval] = (await commands.run('approvals', 'list', '--json')).json;
  await commands.run('approvals', 'approve', approval.id, '--yes');
  await bridge.idle();
  expect((await bridge.platform.user(EVE))?.groups).toEqual(['Sales']);
});
