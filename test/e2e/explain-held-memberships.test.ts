// Tests that explain names the approval that holds the memberships of a person.
import { buildBridge, TOKEN } from '../support/build-bridge.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { scimPatch } from '../support/reconciling.ts';

const GROUPS = ['g0', 'g1', 'g2', 'g3', 'g4'];

test('the guard holds the removals of a person from groups → explain names the approval and the groups', async () => {
  const removeMembers = { count: 1, percent: 100 };
  const bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (main) main.guard.removeMembers = removeMembers;
    },
  });
  const commands = createCommands({
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
  try {
    const ann = await bridge.idp.createUser('ann@acme.example');
    const ids = [];
    for (const name of GROUPS) ids.push(await bridge.idp.createGroup(name, [ann]));
    await bridge.idle();
    for (const id of ids)
      await bridge.idp.send(
        ...([
          'PATCH',
          `/Groups/${id}`,
          scimPatch({ op: 'remove', path: `members[value eq "${ann}"]` }),
        ] as const),
      );
    const found = await eventually('all but the first removal are held', async () => {
      const [each] = (await commands.run('explain', 'ann@acme.example', '--json')).json;
      const held = each.memberships.filter(({ condition }: { condition?: string }) => condition === 'Held');
      return held.length === GROUPS.length - 1 ? { ...each, held } : undefined;
    });
    const [approval] = (await commands.run('approvals', 'list', '--json')).json;
    expect(found).toMatchObject({ verdict: 'held', approval: approval.id });
    const names = found.held.map(({ name }: { name: string }) => name).join(', ');
    expect(found.reasons).toContain(
      `The approval ${approval.id} holds changes of its groups ${names}: scim-bridge approvals show ${approval.id}, then approve or reject.`,
    );
  } finally {
    commands.remove();
    await bridge.stop();
  }
}, 60_000);
