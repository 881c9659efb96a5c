// Tests damaged records: requests for them fail with 500, and all other requests work.
import { Redis } from 'ioredis';
import { buildBridge, type Bridge } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';

let bridge: Bridge;
let redis: Redis;
let ids: { ada: string; bob: string; sales: string };

/** Replaces a stored record. */
type Damage = (stored: string) => string;

const DAMAGES: [string, Damage][] = [
  ['a changed letter', (stored) => stored.replace(/(ada|bob|sales)(?=[^\n]*$)/, 'eve')],
  ['a cut text', (stored) => stored.slice(0, -7)],
  ['a lost head', (stored) => stored.slice(stored.indexOf('\n'))],
  ['nonsense', () => 'x'],
];

async function damage(family: 'users' | 'groups', id: string, how: Damage): Promise<void> {
  const key = `${bridge.config.redis.prefix}:{default}:${family}`;
  const stored = await redis.hget(key, id);
  await redis.hset(key, id, how(stored ?? ''));
}

beforeAll(async () => {
  bridge = await buildBridge();
  redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  const ada = await bridge.idp.createUser('ada@acme.example');
  const bob = await bridge.idp.createUser('bob@acme.example');
  ids = { ada, bob, sales: await bridge.idp.createGroup('sales', [ada]) };
  await eventually('both are there', async () =>
    (await bridge.platform.user('ada@acme.example'))?.groups.includes('sales') ? true : undefined,
  );
});
afterAll(async () => {
  redis.disconnect();
  await bridge.stop();
});

test.each(DAMAGES)(
  'a user whose record has %s answers 500 to GET and PATCH, is left out of lists, and is repaired by a PUT',
  async (_what, how) => {
    const { idp } = bridge;
    const path = `/Users/${ids.ada}`;
    const whole = (await idp.send('GET', path)).body;
    await damage('users', ids.ada, how);
    for (const answer of [
      await idp.send('GET', path),
      await idp.send('PATCH', path, patchOf('title', 'x')),
    ]) {
      expect([answer.status, answer.body.detail]).toEqual([
        500,
        expect.stringContaining(`User ${ids.ada} is damaged`),
      ]);
      expect(answer.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error']);
    }
    for (const query of [
      '',
      '?filter=userName%20sw%20%22a%22',
      '?sortBy=userName',
      '?filter=userName%20eq%20%22ada@acme.example%22',
      '?cursor=',
    ]) {
      const list = await idp.send('GET', `/Users${query}`);
      expect(list.status).toBe(200);
      expect((list.body.Resources as { id: string }[]).map(({ id }) => id)).not.toContain(ids.ada);
    }
    expect((await idp.send('GET', '/Users/' + ids.bob)).status).toBe(200);
    expect((await idp.send('PUT', path, whole)).status).toBe(200);
    const healed = (await idp.send('GET', path)).body;
    expect([healed.userName, healed.groups.length]).toEqual(['ada@acme.example', 1]);
  },
);

test('a damaged user record neither deactivates the account nor removes the user from a group', async () => {
  const { idp, platform } = bridge;
  await damage('users', ids.bob, (stored) => stored.slice(0, -3));
  // The membership marks the group, and also bob when the group has been written.
  await idp.send('PATCH', `/Groups/${ids.sales}`, patchOf('members', [{ value: ids.bob }], 'add'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await platform.user('bob@acme.example'))?.active).toBe(true);
  expect((await idp.send('GET', `/Groups/${ids.sales}`)).body.members).toHaveLength(2);
});

test('a group with a damaged record is repaired by a PUT, and can be deleted', async () => {
  const { idp } = bridge;
  const path = `/Groups/${ids.sales}`;
  await damage('groups', ids.sales, (stored) => `${stored} `);
  expect((await idp.send('GET', path)).status).toBe(500);
  const put = await idp.send('PUT', path, { schemas: [], displayName: 'sales' });
  expect(put.status).toBe(200);
  expect((await idp.send('GET', path)).body.members).toHaveLength(2);
  await damage('groups', ids.sales, (stored) => stored.slice(5));
  expect((await idp.send('DELETE', path)).status).toBe(204);
});

test('a user with a damaged record is deleted with 204, and its userName can be used by a new user', async () => {
  const { idp } = bridge;
  await damage('users', ids.ada, (stored) => stored.slice(0, -1));
  expect((await idp.send('DELETE', `/Users/${ids.ada}`)).status).toBe(204);
  await expect(idp.createUser('ada@acme.example')).resolves.toBeTruthy();
});

const patchOf = (path: string, value: unknown, op = 'replace') => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op, path, value }],
});
