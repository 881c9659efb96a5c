// Tests both styles of SCIM ids: a SCIM id is never used as a user id of the value list (contract 3.4).
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';

async function startBridge(scimIdStyle: string): Promise<Bridge> {
  const bridge = await buildBridge({
    configure: (config) => {
      Object.assign(config.targets.main?.attributes ?? {}, {
        contractor: { type: 'boolean', expression: 'userType = "Contractor"' },
      });
    },
  });
  // The style is set before the first push, because ids of one style are unknown in the other.
  await fetch(`${bridge.sandbox.ready.controlUrl}/settings`, {
    method: 'PATCH',
    body: JSON.stringify({ scimIdStyle }),
  });
  return bridge;
}

test.each(['uuid', 'numeric'])(
  'USER-14 with %s SCIM ids at the platform users, values and groups are written, and leavers are deactivated',
  async (style) => {
    const bridge = await startBridge(style);
    try {
      const { idp, platform } = bridge;
      const ada = await idp.createUser('ada@acme.example', { userType: 'Contractor' });
      const bob = await idp.createUser('bob@acme.example');
      await idp.createGroup('analysts', [ada, bob]);
      for (const [name, contractor] of [
        ['ada@acme.example', true],
        ['bob@acme.example', false],
      ] as const) {
        const user = await eventually(`${name} is active in analysts`, async () => {
          const found = await platform.user(name);
          return found?.active && found.groups.includes('analysts') ? found : undefined;
        });
        expect(user.attributes).toMatchObject({ contractor });
      }
      const answer = await idp.send('DELETE', `/Users/${bob}`);
      expect(answer.status).toBe(204);
      await eventually(
        'bob has no access',
        async () => (await platform.user('bob@acme.example'))?.active === false,
      );
      expect((await platform.user('ada@acme.example'))?.active).toBe(true);
    } finally {
      await bridge.stop();
    }
  },
);
