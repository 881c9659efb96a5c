// Tests that the command forget removes the data of one person only, keyed by the person, and that an interrupted order can be
// given again.
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';

let bridge: Bridge;
let commands: Commands;
let redis: Redis;

beforeEach(async () => {
  bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (!main) throw new Error('no target');
      main.attributes = { manager: { type: 'number', from: 'title', onEmpty: 'clear' } };
    },
  });
  const { url, token, attributes } = bridge.config.targets.main ?? {};
  commands = createCommands({
    redis: { url: bridge.config.redis.url, prefix: bridge.config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests' }] } },
    targets: { main: { url, token, allowLoopbackHttp: true, attributes } },
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
const acts = async (): Promise<{ act: string; subject?: string; forgotten?: true }[]> =>
  (await commands.run('acts', '--json')).text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

test('forget keeps values of other persons that equal a name of the forgotten person', async () => {
  const boss = await bridge.idp.createUser('boss@acme.example', {
    ...{ externalId: '100200', displayName: 'John Smith' },
  });
  const emp = await bridge.idp.createUser('emp@acme.example', { title: '100200', displayName: 'John Smith' });
  await bridge.idp.createGroup('analysts', [boss, emp]);
  await bridge.idle();
  await leave(boss);
  const before = [await redis.hget(keyOf('links:main'), `User:${emp}`), (await commands.run('log')).text];
  expect((await commands.run('forget', 'boss@acme.example', '--yes')).code).toBe(0);
  expect(await redis.hget(keyOf('links:main'), `User:${emp}`)).toBe(before[0]);
  const isOfEmp = (line: string): boolean => line.includes('main  emp@acme.example');
  expect((await commands.run('log')).text.split('\n').filter(isOfEmp)).toEqual(
    before[1]?.split('\n').filter(isOfEmp),
  );
  expect((await commands.run('plan')).code).toBe(0);
  await bridge.idp.patch(`/Users/${emp}`, { op: 'replace', path: 'active', value: false });
  await eventually(
    'the account is closed',
    async () => (await bridge.platform.user('emp@acme.example'))?.active === false,
  );
}, 60_000);

test('forget by the name of a group, a word of a note or the id of a forgotten person exits 4 and changes nothing', async () => {
  const [ann, bob] = [
    await bridge.idp.createUser('ann@acme.example'),
    await bridge.idp.createUser('bob@acme.example'),
  ];
  await bridge.idp.createGroup('sales', [ann, bob]);
  await bridge.idle();
  await commands.run('hold', '--note', 'a true ticket for sales');
  await commands.run('release');
  await commands.run('sync', 'sales');
  const file = join(commands.folder, 'backup');
  expect((await commands.run('backup', file)).code).toBe(0);
  for (const id of [ann, bob]) await leave(id);
  for (const id of [ann, bob])
    expect((await commands.run('forget', `User:${id}`, '--yes', '--by', 'dpo')).code).toBe(0);
  const before = [await acts(), (await commands.run('log')).text];
  for (const word of ['sales', 'true', 'User', 'ticket', 'bob@acme.example', bob, `User:${bob}`])
    expect([word, (await commands.run('forget', word, '--yes')).code]).toEqual([word, 4]);
  expect([await acts(), (await commands.run('log')).text]).toEqual(before);

  const { json } = await bridge.whileStopped(() =>
    commands.run('restore', file, '--replace', '--yes', '--json'),
  );
  expect(new Set(json.forgottenSince)).toEqual(new Set([`User:${ann}`, `User:${bob}`]));
  await commands.run('release');
  await bridge.idle();
  expect((await bridge.platform.user('bob@acme.example'))?.active).toBe(false);
}, 60_000);

test('an order to forget that was interrupted is completed by the same order, by name or by id', async () => {
  const bob = await bridge.idp.createUser('bob@acme.example');
  await bridge.idle();
  await leave(bob);
  await commands.run('hold', '--note', 'bob@acme.example leaves');
  // A key of another type makes the order fail after the logs are cleaned, as a kill would.
  await redis.set(keyOf('events'), 'no stream');
  expect((await commands.run('forget', 'bob@acme.example', '--yes')).code).toBe(1);
  expect(await redis.get(keyOf('hold:main'))).toContain('bob@acme.example');
  await redis.set(keyOf('events'), 'no stream');
  expect((await commands.run('forget', bob, '--yes')).code).toBe(1);
  await redis.del(keyOf('events'));
  expect((await commands.run('forget', 'Bob@acme.example', '--yes')).code).toBe(0);
  expect(JSON.parse((await redis.get(keyOf('hold:main'))) ?? '')).toMatchObject({
    note: '(forgotten) leaves',
  });
  expect(await redis.exists(keyOf('forgetting'))).toBe(0);
  expect((await commands.run('forget', bob, '--yes')).code).toBe(4);
  for (const log of ['log', 'acts']) expect((await commands.run(log, '--verify')).code).toBe(0);
}, 60_000);

test('forget of a person with a held removal names the group in which the account stays, and this group is no exception afterwards', async () => {
  const ids = await Promise.all(
    ['ann', 'bob', 'cat'].map((name) => bridge.idp.createUser(`${name}@acme.example`)),
  );
  await bridge.idp.createGroup('sales', ids);
  await bridge.idle();
  const { main } = bridge.config.targets;
  if (!main) throw new Error('no target');
  main.guard.deactivate = { count: 0, percent: 0 };
  await leave(ids[2] ?? '');
  expect((await commands.run('status')).code).toBe(2);
  const { code, text } = await commands.run('forget', 'cat@acme.example', '--yes', '--leave-account');
  expect(code).toBe(0);
  await bridge.idle();
  expect((await commands.run('exceptions')).text).not.toContain('sales');
  expect((await commands.run('status')).code).toBe(0);
  expect((await commands.run('plan')).code).toBe(0);
  expect(text).toContain('stays in sales there, also when the person is hired again: an administrator');
  const members = async () => (await bridge.platform.group('sales'))?.members.toSorted();
  await expect(members()).resolves.toContain('cat@acme.example');
  await bridge.idp.createUser('cat@acme.example');
  await bridge.idle();
  await expect(members()).resolves.toContain('cat@acme.example');
}, 60_000);
