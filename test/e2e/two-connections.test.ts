// Tests two connections of one target: each account and group has one owner.
import { Redis } from 'ioredis';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp, type Idp } from '../support/idp.ts';

let bridge: Bridge;
let other: Idp;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: ({ connections, targets: { main } }) => {
      const { default: first } = connections;
      if (!first || !main) return;
      connections.second = { ...first, name: 'second' };
      main.users.deprovision = 'delete';
      Object.assign(main.attributes, { team: { type: 'string', from: 'title', onEmpty: 'clear' } });
    },
  });
  other = createIdp(`http://127.0.0.1:${bridge.app.port}/connections/second/scim/v2`, TOKEN);
});
afterAll(() => bridge.stop());

const base = (): string => bridge.config.redis.prefix;
async function withRedis<T>(use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  return use(redis).finally(() => redis.disconnect());
}
/** Returns the condition of a connection's resource at the target. */
const conditionOf = (
  connection: string,
  ref: string,
): Promise<{ reason: string; message: string } | undefined> =>
  withRedis(async (redis) => {
    const text = await redis.hget(`${base()}:{${connection}}:links:main`, ref);
    return text === null ? undefined : (JSON.parse(text) as { condition?: any }).condition;
  });
const isTaken = (connection: string, ref: string) =>
  eventually(`${ref} of ${connection} is a dead letter`, async () => {
    const condition = await conditionOf(connection, ref);
    return condition?.reason === 'TakenByConnection' ? condition : undefined;
  });
/** Returns the sandbox accounts by userName. */
const account = (userName: string) => bridge.platform.user(userName);

test('another connection pushes a user with a taken userName → the account stays unchanged, and the dead letter names its owner', async () => {
  const { idp } = bridge;
  const own = await idp.createUser('ada@acme.example', {
    displayName: 'Ada',
    title: 'sales',
    externalId: 'a',
  });
  await eventually('open', async () => (await account('ada@acme.example'))?.active);
  const theirs = await other.createUser('ada@acme.example', {
    displayName: 'Eve',
    title: 'all',
    externalId: 'e',
  });
  const { message } = await isTaken('second', `User:${theirs}`);
  expect(message).toContain('connection default');
  expect(message).toContain(`ada@acme.example (User:${own})`);

  await other.patch(`/Users/${theirs}`, { op: 'replace', path: 'active', value: false });
  await eventually('still a dead letter', () => isTaken('second', `User:${theirs}`));
  await other.send('DELETE', `/Users/${theirs}`);
  await other.createUser('later@acme.example');
  await eventually('the other connection goes on', async () => (await account('later@acme.example'))?.active);
  expect(await account('ada@acme.example')).toMatchObject({
    active: true,
    externalId: 'a',
    attributes: { team: 'sales' },
  });
});

test('a user is renamed to a userName of the other connection → the account keeps its name', async () => {
  const { idp } = bridge;
  await idp.createUser('bob@acme.example');
  const theirs = await other.createUser('rob@acme.example');
  await eventually(
    'both',
    async () => (await account('bob@acme.example'))?.active && (await account('rob@acme.example'))?.active,
  );
  await other.patch(`/Users/${theirs}`, { op: 'replace', path: 'userName', value: 'bob@acme.example' });
  await isTaken('second', `User:${theirs}`);
  expect(await account('rob@acme.example')).toMatchObject({ active: true });
});

test('another connection pushes a group with a taken name → the new group becomes a dead letter, and the existing group keeps its members', async () => {
  const { idp, platform } = bridge;
  const member = await idp.createUser('cid@acme.example');
  await idp.createGroup('Finance', [member]);
  const members = async () => (await platform.group('Finance'))?.members;
  await eventually('in', async () => (await members())?.includes('cid@acme.example'));
  const theirs = await other.createGroup('Finance', [await other.createUser('dan@acme.example')]);
  await isTaken('second', `Group:${theirs}`);
  await other.send('DELETE', `/Groups/${theirs}`);
  await other.createUser('end@acme.example');
  await eventually('done', async () => (await account('end@acme.example'))?.active);
  expect(await members()).toEqual(['cid@acme.example']);
});

test('two connections post the same person at once → one links the account and the other gets a dead letter', async () => {
  const { idp } = bridge;
  const names = Array.from({ length: 10 }, (_, at) => `race${at}@acme.example`);
  const pairs = await Promise.all(
    names.map((name) =>
      Promise.all([idp.createUser(name, { title: 'one' }), other.createUser(name, { title: 'two' })]),
    ),
  );
  for (const [at, [first, second]] of pairs.entries()) {
    const taken = await eventually('one of them is told', async () => {
      const conditions = [
        await conditionOf('default', `User:${first}`),
        await conditionOf('second', `User:${second}`),
      ];
      const reasons = conditions.map((each) => each?.reason);
      return reasons.includes('TakenByConnection') ? reasons : undefined;
    });
    expect(taken.filter((reason) => reason === 'TakenByConnection')).toHaveLength(1);
    const winner = taken[0] === undefined ? 'one' : 'two';
    const found = await eventually('open', async () => {
      const user = await account(names[at] ?? '');
      return user?.active ? user : undefined;
    });
    expect(found.attributes.team).toBe(winner);
  }
}, 60_000);

test('one connection deletes a person and the account is deleted → the next push of the other connection creates an account of its own', async () => {
  const { idp } = bridge;
  const own = await idp.createUser('eve@acme.example');
  await eventually('open', async () => (await account('eve@acme.example'))?.active);
  const theirs = await other.createUser('eve@acme.example', { title: 'support' });
  await isTaken('second', `User:${theirs}`);
  await idp.send('DELETE', `/Users/${own}`);
  await eventually('gone', async () => (await account('eve@acme.example')) === undefined);
  await other.patch(`/Users/${theirs}`, { op: 'replace', path: 'title', value: 'sales' });
  await eventually('theirs', async () => (await account('eve@acme.example'))?.attributes.team === 'sales');
}, 40_000);

test('check-config warns about two connections with one target, and exits 0', async () => {
  const token = (name: string) => ({ tokens: [{ name, secret: `${name}-0123456789abcdef0123` }] });
  const commands = createCommands({
    connections: { default: token('one'), second: { ...token('two'), targets: ['main'] } },
    targets: { main: { url: 'https://platform.example.com', token: 'sk-0123456789abcdef' } },
  });
  const { code, text } = await commands.run('check-config').finally(() => commands.remove());
  expect(code).toBe(0);
  expect(text).toContain('several connections feed main: default, second');
});
