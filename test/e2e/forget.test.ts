// Tests the command forget: afterwards no Redis key contains a name, address or externalId of the person.
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { ADMIN_TOKEN, buildBridge, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/send.ts';

const ANN = 'ann.leaver@acme.example';
const EXTERNAL = 'hr-0815-4711';
const FAMILY = 'Leaverstone';
const TRACES = [ANN, EXTERNAL, FAMILY, 'former.name@acme.example'];

let bridge: Bridge;
let commands: Commands;
let redis: Redis;

const attributes = {
  country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
} as const;

beforeAll(async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  bridge = await buildBridge({
    configure: ({ connections: { default: connection }, targets: { main } }) => {
      if (!connection || !main) throw new Error('no settings');
      connection.events = {
        issuer: 'https://scim.example.com',
        audience: 'https://receiver.example.com',
        key,
        otherKeys: [],
        poll: { token: 'token-of-the-receiver-0123456789' },
        push: null,
        externalIds: true,
        mostPending: 1000,
        maxAgeMs: 3_600_000,
      };
      main.attributes = attributes;
    },
  });
  const { url, token } = bridge.config.targets.main ?? {};
  commands = createCommands({
    redis: { url: bridge.config.redis.url, prefix: bridge.config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests' }] } },
    targets: { main: { url, token, allowLoopbackHttp: true, attributes } },
  });
  redis = new Redis(bridge.config.redis.url ?? '');
}, 60_000);
afterAll(async () => {
  redis.disconnect();
  commands.remove();
  await bridge.stop();
});

/** Returns every key with its whole content as text. */
async function contents(): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${bridge.config.redis.prefix}*`, 'COUNT', 1000);
    cursor = next;
    for (const key of keys) found.push(`${key} ${JSON.stringify(await contentOf(key))}`);
  } while (cursor !== '0');
  return found;
}

async function contentOf(key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'stream':
      return redis.xrange(key, '-', '+');
    case 'none':
      return null;
    default:
      throw new Error(`unknown type of ${key}`);
  }
}

const traces = async (names: string[]): Promise<string[]> =>
  (await contents()).filter((text) => names.some((name) => text.toLowerCase().includes(name.toLowerCase())));

const untilSynced = () =>
  eventually('all is applied', async () => (await commands.run('status', '--json')).json[0].dirty === 0);
const admin = (path: string, body: object) =>
  send(`http://127.0.0.1:${bridge.app.port}/admin/v1`, 'POST', path, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body,
  });

test("forget refuses a user who is still pushed; after the deletion no key contains the user's personal data", async () => {
  const other = await bridge.idp.createUser('bob@acme.example');
  const id = await bridge.idp.createUser('former.name@acme.example', {
    externalId: EXTERNAL,
    name: { givenName: 'Ann', familyName: FAMILY },
    displayName: `Ann ${FAMILY}`,
    addresses: [{ type: 'work', country: 'PT' }],
  });
  await bridge.idp.createGroup('analysts', [id, other]);
  await untilSynced();
  await bridge.idp.patch(
    `/Users/${id}`,
    { op: 'replace', path: 'userName', value: ANN },
    { op: 'replace', path: 'emails[type eq "work"].value', value: ANN },
  );
  await untilSynced();
  await commands.run('hold', '--note', `${ANN} asked for it`);
  await commands.run('release');
  await commands.run('sync', ANN, '--note', `about ${ANN}`);
  const plan = (await admin('/plan', {})).body;
  expect(plan.id).toBeDefined();
  const pushed = await commands.run('forget', ANN, '--yes');
  expect(pushed.code).toBe(1);
  expect(pushed.text).toContain('is still pushed by default');
  await expect(admin('/forget', { person: ANN, yes: true })).resolves.toMatchObject({ status: 409 });

  expect((await bridge.idp.send('DELETE', `/Users/${id}`)).status).toBe(204);
  await eventually('the account is closed', async () => (await bridge.platform.user(ANN))?.active === false);
  await untilSynced();
  expect(await traces(TRACES)).not.toEqual([]);

  const unasked = await commands.run('forget', ANN);
  expect(unasked).toMatchObject({ code: 1, text: expect.stringContaining('--yes') });
  expect((await commands.run('acts', '--json', '--action', 'forget')).text).toBe('');
  const { code, json } = await commands.run(
    'forget',
    ANN,
    '--yes',
    '--json',
    '--by',
    'dpo',
    '--note',
    `${ANN} wrote`,
  );
  expect(code).toBe(0);
  expect(json).toMatchObject([
    {
      connection: 'default',
      refs: [`User:${id}`],
      removed: { tombstones: 1, links: 1, acts: 2, heldChanges: 0, deadLetters: 0 },
      accounts: [{ target: 'main', state: 'closed' }],
    },
  ]);
  expect(json[0].removed.logEntries).toBeGreaterThan(2);
  expect(json[0].removed.events).toBeGreaterThan(1);
  expect(await traces(TRACES)).toEqual([]);

  for (const log of ['log', 'acts']) {
    const verified = await commands.run(log, '--verify');
    expect(verified).toMatchObject({
      code: 0,
      text: expect.stringMatching(/personal data of \d+ forgotten/),
    });
  }
  const [record] = (await commands.run('acts', '--json')).text.split('\n').map((line) => JSON.parse(line));
  expect(record).toMatchObject({
    act: 'forget',
    by: 'dpo',
    subject: `User:${id}`,
    order: json[0].order,
    note: '(forgotten) wrote',
  });
  const entries = (await commands.run('log')).text;
  expect(entries).toContain('(forgotten)');
  expect(entries).toContain('bob@acme.example');
  expect((await commands.run('forget', ANN, '--yes')).code).toBe(4);
  await expect(admin('/forget', { person: ANN, yes: true })).resolves.toMatchObject({ status: 404 });
  expect((await commands.run('doctor', '--deep')).text).toContain('agrees with the records');
}, 60_000);

test('personal data is removed from the log without an order to forget → `log --verify` reports it', async () => {
  const key = `${bridge.config.redis.prefix}:{default}:logPersonal:main`;
  const [field = '', value = ''] =
    Object.entries(await redis.hgetall(key)).find(([, text]) => !text.startsWith('forgotten')) ?? [];
  await redis.hset(key, field, 'forgotten nobody');
  expect(await commands.run('log', '--verify')).toMatchObject({
    code: 1,
    text: expect.stringContaining(field),
  });
  await redis.hset(key, field, value);
  expect(await commands.run('log', '--verify')).toMatchObject({ code: 0 });
});

test('forget refuses a user whose account is active, unless --leave-account is given', async () => {
  const name = 'carl@acme.example';
  const id = await bridge.idp.createUser(name);
  await eventually('Carl is active', async () => (await bridge.platform.user(name))?.active);
  await untilSynced();
  await commands.run('hold');
  await bridge.idp.send('DELETE', `/Users/${id}`);
  const refused = await commands.run('forget', name, '--yes');
  expect(refused.code).toBe(1);
  expect(refused.text).toMatch(/account \S+ at main is active.*--leave-account/);
  const answer = await admin('/forget', { person: name, yes: true, leaveAccount: true, by: 'dpo' });
  expect(answer).toMatchObject({ status: 200, body: [{ accounts: [{ state: 'active' }] }] });
  expect(await traces([name])).toEqual([]);
  await commands.run('release');
  expect((await commands.run('status', '--json')).json[0].dirty).toBe(0);
  expect((await bridge.platform.user(name))?.active).toBe(true);
  expect((await admin('/forget', { person: name })).status).toBe(400);
}, 60_000);

test('forget finds a user by a former name when only log entries are left', async () => {
  const name = 'dora@acme.example';
  const id = await bridge.idp.createUser(name);
  await untilSynced();
  await bridge.idp.send('DELETE', `/Users/${id}`);
  await untilSynced();
  const base = `${bridge.config.redis.prefix}:{default}:`;
  await redis.hdel(`${base}tombstones`, id);
  await redis.hdel(`${base}links:main`, `User:${id}`);
  const { code, json } = await commands.run('forget', name.toUpperCase(), '--yes', '--json');
  expect({ code, refs: json[0].refs }).toEqual({ code: 0, refs: [`User:${id}`] });
  expect(await traces([name])).toEqual([]);
}, 60_000);

test('restore names the users who were forgotten after the backup was made', async () => {
  const name = 'emil@acme.example';
  const id = await bridge.idp.createUser(name);
  await untilSynced();
  await bridge.idp.send('DELETE', `/Users/${id}`);
  await untilSynced();
  const file = join(commands.folder, 'backup');
  expect((await commands.run('backup', file)).code).toBe(0);
  expect((await commands.run('forget', name, '--yes')).code).toBe(0);
  const { json } = await bridge.whileStopped(() =>
    commands.run('restore', file, '--replace', '--yes', '--json'),
  );
  expect(json.forgottenSince).toEqual([`User:${id}`]);
  await commands.run('release');
  await untilSynced();
  expect((await commands.run('forget', `User:${id}`, '--yes')).code).toBe(0);
  expect(await traces([name])).toEqual([]);
  for (const log of ['log', 'acts']) expect(await commands.run(log, '--verify')).toMatchObject({ code: 0 });
}, 60_000);

test('forget refuses a user with a held or rejected deactivation; with --leave-account the deactivation and its exception are removed', async () => {
  const names = ['fay@acme.example', 'gus@acme.example'];
  const ids = await Promise.all(names.map((name) => bridge.idp.createUser(name)));
  await untilSynced();
  const { main } = bridge.config.targets;
  if (!main) throw new Error('no target');
  main.guard.deactivate = { count: 0, percent: 0 };
  for (const id of ids) await bridge.idp.send('DELETE', `/Users/${id}`);
  const held = await eventually('both are held', async () => {
    const { json } = await commands.run('approvals', 'list', '--json');
    return json.length === 1 && json[0].kinds.deactivate === 2 ? json[0] : undefined;
  });
  await commands.run('approvals', 'reject', held.id, '--ref', `User:${ids[0]}`, '--yes');
  await untilSynced();
  for (const name of names) expect((await commands.run('forget', name, '--yes')).text).toContain('is active');
  expect((await commands.run('status')).code).toBe(2);
  const found = [];
  for (const name of names)
    found.push((await commands.run('forget', name, '--yes', '--json', '--leave-account')).json[0].removed);
  expect(found.map(({ heldChanges }) => heldChanges)).toEqual([0, 1]);
  expect(await traces(names)).toEqual([]);
  expect(
    (await contents()).filter((text) => /guardHeld|exception/.test(text) && text.includes('User:')),
  ).toEqual([]);
  expect((await commands.run('approvals', 'list', '--json')).json).toEqual([]);
  // An earlier test used another policy, which a reconcile brings to everybody.
  expect((await commands.run('reconcile', '--yes')).code).toBe(0);
  expect((await commands.run('status')).code).toBe(0);
}, 60_000);
