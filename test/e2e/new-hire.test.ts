// Tests a new user from the push to the active account.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      Object.assign(config.targets.main?.attributes ?? {}, {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'keep' },
        contractor: { type: 'boolean', expression: 'userType = "Contractor"', onEmpty: 'keep' },
      });
    },
  });
});
afterAll(() => bridge.stop());

test('BRIDGE-02 a new user arrives inactive, gets attributes and groups, and only then becomes active', async () => {
  const { idp, platform } = bridge;
  const id = await idp.createUser('ada@acme.example', { addresses: [{ type: 'work', country: 'PT' }] });
  await idp.createGroup('analysts', [id]);
  const user = await eventually('ada is active in analysts', async () => {
    const found = await platform.user('ada@acme.example');
    return found?.active && found.groups.includes('analysts') ? found : undefined;
  });
  expect(user.attributes).toMatchObject({ country: 'PT', contractor: false });
  const writes = await platform.writes();
  const position = (test: (call: (typeof writes)[number]) => boolean): number => writes.findIndex(test);
  const created = position((call) => call.method === 'POST' && call.path.endsWith('/Users'));
  const valued = position((call) => call.path.endsWith('/user-attribute-values'));
  const activated = position(
    (call) => call.method === 'PATCH' && JSON.stringify(call.body).includes('"active"'),
  );
  expect(writes[created]?.body.active).toBe(false);
  expect(created).toBeLessThan(valued);
  expect(valued).toBeLessThan(activated);
});

test('BRIDGE-11 a repeated push with the same content causes no call to the platform', async () => {
  const { idp, platform } = bridge;
  const found = await idp.send('GET', '/Users?filter=userName eq "ada@acme.example"'.replaceAll(' ', '%20'));
  const [user] = found.body.Resources;
  await bridge.idle();
  await platform.forgetRequests();
  const version = user.meta.version;
  const again = await idp.send('PUT', `/Users/${user.id}`, user);
  expect(again.status).toBe(200);
  expect(again.body.meta.version).toBe(version);
  await bridge.idle();
  expect(await platform.requests()).toEqual([]);
});
