// Tests that the running service completes an order to forget a person that was interrupted, within the checks of the command.
import { Redis } from 'ioredis';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { byHand } from '../support/by-hand.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';

const BOB = 'bob@acme.example';
let bridge: Bridge;
let commands: Commands;
let redis: Redis;

beforeEach(async () => {
  bridge = await buildBridge();
  const { url, token } = bridge.config.targets.main ?? {};
  commands = createCommands({
    redis: { url: bridge.config.redis.url, prefix: bridge.config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests' }] } },
    targets: { main: { url, token, allowLoopbackHttp: true } },
  });
  redis = new Redis(bridge.config.redis.url ?? '');
}, 60_000);
afterEach(async () => {
  redis.disconnect();
  commands.remove();
  await bridge.stop();
});

const keyOf = (family: string): string => `${bridge.config.redis.prefix}:{default}:${family}`;
const leave = async (id: string): Promise<void> => {
  expect((await bridge.idp.send('DELETE', `/Users/${id}`)).status).toBe(204);
  await bridge.idle();
};

/** Gives an order that ends with an error after the first removals, as a kill would end it. */
async function interrupt(...order: string[]): Promise<void> {
  await redis.set(keyOf('events'), 'no stream');
  expect((await commands.run('forget', ...order, '--yes', '--by', 'dpo')).code).toBe(1);
  await redis.del(keyOf('events'));
}

/** Sets the time of the unfinished orders two hours back. */
async function age(key = keyOf('forgetting')): Promise<void> {
  const at = Date.now() - 2 * 3_600_000;
  for (const [ref, text] of Object.entries(await redis.hgetall(key))) {
    const order = JSON.parse(text) as object;
    await redis.hset(key, ref, JSON.stringify({ ...order, since: at, triedAt: at }));
  }
}

const tried = (outcome: string) =>
  eventually('the service has tried to complete the order', () =>
    bridge.logs.some(
      (line) =>
        line.includes('tried to complete an interrupted order to forget') &&
        line.includes(`"outcome":"${outcome}"`),
    ),
  );
const forgetActs = async (): Promise<string[]> =>
  (await commands.run('acts', '--action', 'forget')).text.split('\n').filter((line) => line.includes('dpo'));

test('an interrupted order to forget is completed exactly once by the running processes, and recorded with the operator who gave it', async () => {
  const bob = await bridge.idp.createUser(BOB);
  await bridge.idle();
  await leave(bob);
  await commands.run('hold', '--note', `${BOB} leaves`);
  await interrupt(BOB);
  expect(await redis.get(keyOf('hold:main'))).toContain(BOB);
  expect(await forgetActs()).toHaveLength(1);
  await bridge.whileStopped(() => age());
  bridge.config.server.port = 0;
  await Promise.all([bridge.another('worker'), bridge.another('scheduler')]);
  await eventually(
    'the order is complete',
    async () => (await redis.exists(keyOf('forgetting'))) === 0 && (await forgetActs()).length > 1,
  );
  expect(JSON.parse((await redis.get(keyOf('hold:main'))) ?? '')).toMatchObject({
    note: '(forgotten) leaves',
  });
  expect(await forgetActs()).toHaveLength(2);
  expect((await commands.run('forget', BOB, '--yes')).code).toBe(4);
  for (const log of ['log', 'acts']) expect((await commands.run(log, '--verify')).code).toBe(0);
}, 60_000);

test('the service completes an interrupted order to forget, but leaves alone an order that another process may still run', async () => {
  const bob = await bridge.idp.createUser(BOB);
  await bridge.idle();
  await leave(bob);
  await interrupt(BOB);
  await bridge.whileStopped(() => Promise.resolve());
  await bridge.idle();
  expect(await redis.hexists(keyOf('forgetting'), `User:${bob}`)).toBe(1);
  await bridge.whileStopped(() => age());
  await eventually('complete', async () => (await redis.exists(keyOf('forgetting'))) === 0);
}, 60_000);

test('an interrupted order to forget waits while the account is open or the person is pushed again → doctor names it, and --leave-account completes it', async () => {
  const bob = await bridge.idp.createUser(BOB);
  await bridge.idle();
  await leave(bob);
  // The order is killed behind the first step, and then somebody opens the account, and a sync notes it.
  const account = `/Users/${(await bridge.platform.user(BOB))?.scimId ?? ''}`;
  const link = JSON.parse((await redis.hget(keyOf('links:main'), `User:${bob}`)) ?? '') as { core: object };
  const open = JSON.stringify({ ...link, core: { ...link.core, active: true } });
  await interrupt(BOB);
  await byHand(bridge, 'PATCH', account, { op: 'replace', path: 'active', value: true });
  await redis.hset(keyOf('links:main'), `User:${bob}`, open);
  expect((await commands.run('doctor')).text).not.toContain('an order to forget');
  await bridge.whileStopped(() => age());
  await tried('open');
  expect(await redis.hget(keyOf('links:main'), `User:${bob}`)).toBe(open);
  const { text } = await commands.run('doctor');
  expect(text.replace(/\s+/g, ' ')).toContain(`an order to forget User:${bob} is not complete`);
  expect((await commands.run('forget', `User:${bob}`, '--yes')).text).toContain('is active');

  const again = await bridge.idp.createUser(BOB);
  await bridge.whileStopped(() => age());
  await tried('pushed');
  expect(await redis.hget(keyOf('links:main'), `User:${bob}`)).toBe(open);
  await leave(again);
  // The order does not cover the data of the second push, so it is not completed when the person leaves again.
  await redis.hdel(keyOf('links:main'), `User:${bob}`);
  const decoy = await bridge.idp.createUser('decoy@acme.example');
  await bridge.idle();
  await leave(decoy);
  await interrupt('decoy@acme.example');
  await bridge.whileStopped(() => age());
  await eventually(
    'the other order is complete',
    async () => (await redis.hexists(keyOf('forgetting'), `User:${decoy}`)) === 0,
  );
  expect(await redis.hexists(keyOf('forgetting'), `User:${bob}`)).toBe(1);
  await redis.hset(keyOf('links:main'), `User:${bob}`, open);
  await interrupt(`User:${bob}`, '--leave-account');
  await bridge.whileStopped(() => age());
  await eventually('complete', async () => (await redis.exists(keyOf('forgetting'))) === 0);
  expect(await redis.hexists(keyOf('links:main'), `User:${bob}`)).toBe(0);
}, 60_000);

test('two interrupted orders to forget end with an error again → a warning for each names its connection and user, and both are tried in one round', async () => {
  const ids: string[] = [];
  for (const name of ['ann@acme.example', BOB]) {
    const id = await bridge.idp.createUser(name);
    ids.push(`User:${id}`);
    await bridge.idle();
    await leave(id);
    await interrupt(name);
  }
  await bridge.whileStopped(async () => {
    await age();
    await redis.set(keyOf('events'), 'no stream');
  });
  const warned = () =>
    bridge.logs
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'an interrupted order to forget cannot be completed')
      .map(({ connection, ref }) => [connection, ref]);
  await eventually('both are warned of', () => Promise.resolve(warned().length === 2), 20_000);
  expect(warned().toSorted()).toEqual(ids.map((ref) => ['default', ref]).toSorted());
  await redis.del(keyOf('events'));
}, 60_000);

test('an order to forget at two connections is killed after the first connection → the running service completes it', async () => {
  const { connections } = bridge.config;
  const [first] = Object.values(connections);
  if (first) connections.second = { ...first, name: 'second' };
  await bridge.whileStopped(() => Promise.resolve());
  const second = createIdp(`http://127.0.0.1:${bridge.app.port}/connections/second/scim/v2`, TOKEN);
  const { url, token } = bridge.config.targets.main ?? {};
  const tokens = [{ name: 'primary', secret: 'a-token-for-tests' }];
  const both = createCommands({
    redis: { url: bridge.config.redis.url, prefix: bridge.config.redis.prefix },
    connections: {
      default: { tokens },
      second: { tokens: [{ name: 'primary', secret: 'b-token-for-tests' }] },
    },
    targets: { main: { url, token, allowLoopbackHttp: true } },
  });
  const ids = [await bridge.idp.createUser(BOB), await second.createUser(BOB, { externalId: 'other' })];
  await bridge.idle();
  await leave(ids[0] ?? '');
  expect((await second.send('DELETE', `/Users/${ids[1]}`)).status).toBe(204);
  await bridge.idle();
  const keyOfSecond = (family: string): string => keyOf(family).replace('{default}', '{second}');
  const kept = async (): Promise<boolean[]> => [
    (await redis.exists(keyOf('forgetting'))) === 1,
    (await redis.exists(keyOfSecond('forgetting'))) === 1,
    (await redis.hvals(keyOf('links:main'))).join().includes(BOB),
    (await redis.hvals(keyOfSecond('links:main'))).join().includes(BOB),
  ];
  // The order ends with an error right before it removes anything of the second connection.
  await redis.rename(keyOfSecond('acts'), keyOfSecond('moved')).catch(() => undefined);
  await redis.set(keyOfSecond('acts'), 'no stream');
  const killed = await both.run('forget', BOB, '--yes', '--leave-account');
  both.remove();
  expect(killed.code).toBe(1);
  await redis.del(keyOfSecond('acts'));
  await redis.rename(keyOfSecond('moved'), keyOfSecond('acts')).catch(() => undefined);
  expect((await kept()).slice(0, 3)).toEqual([true, true, false]);
  await bridge.whileStopped(async () => {
    await age();
    await age(keyOfSecond('forgetting'));
  });
  await eventually('both are complete', async () => !(await kept()).includes(true));
}, 60_000);
