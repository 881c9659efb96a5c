// Tests an attribute whose definition at the platform has another type than in the settings.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { request } from 'undici';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    role: 'api',
    configure: (config) => {
      Object.assign(config.targets.main?.attributes ?? {}, {
        level: { type: 'number', from: 'urn:cube:params:1.0:UserAttribute:level', onEmpty: 'keep' },
        team: { type: 'string', from: 'title', onEmpty: 'keep' },
      });
    },
  });
  const { platformUrl, fixtures } = bridge.sandbox.ready;
  const answer = await request(`${platformUrl}/api/v1/user-attributes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'level', type: 'string' }),
  });
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
  await bridge.another('worker');
});
afterAll(() => bridge.stop());

test('BRIDGE-05 the value of an attribute with another type at the platform is not written, all other values are, and the new user stays inactive', async () => {
  const { idp, platform } = bridge;
  await idp.createUser('typed@acme.example', {
    title: 'sales',
    'urn:cube:params:1.0:UserAttribute': { level: 3 },
  });
  const user = await eventually('the other attribute arrives', async () => {
    const found = await platform.user('typed@acme.example');
    return found?.attributes.team === 'sales' ? found : undefined;
  });
  expect(user.active).toBe(false);
  expect(user.attributes.level ?? null).toBeNull();
  const definitions = (await platform.state()).attributeDefinitions ?? (await platform.state()).attributes;
  expect(JSON.stringify(definitions)).toContain('"level"');
});

test('a new user without a value for an attribute of conflicting type is activated', async () => {
  const { idp, platform } = bridge;
  await idp.createUser('untyped@acme.example', { title: 'sales' });
  await eventually('active', async () => (await platform.user('untyped@acme.example'))?.active);
});
