// Tests a backup during pushes, the loss of Redis data, and the restore on hold; and export and import of links.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDesiredStates } from '../../src/app/open.ts';
import { untilReady } from '../../src/directory/redis/connection.ts';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { scanAll } from '../contract/lua/rig.ts';

let bridge: Bridge;
let commands: Commands;
let store: ReturnType<typeof openDesiredStates>;
let file: string;
const prefix = `test-${randomUUID()}`;
const ids: string[] = [];
let sales: string;

const untilSynced = () =>
  eventually(
    'nothing is dirty',
    async () => (await commands.run('status', '--json')).json[0].dirty === 0,
    30_000,
  );
/** Returns the desired state and the links, without counters and pending work. */
async function contents(): Promise<Record<string, unknown>> {
  const { redis } = store;
  const base = `${prefix}:{default}:`;
  const found: Record<string, unknown> = {};
  for (const key of (await scanAll(redis, `${base}*`)).sort()) {
    const name = key.slice(base.length);
    if (
      !/^(users|groups|userNames|externalIds|displayNames|emails|groupNames|members|groupsOf|order|tombstones|links|linked|tokens|memberCount|guardHeld|guardItems)/.test(
        name,
      )
    )
      continue;
    const type = await redis.type(key);
    if (type === 'hash') found[name] = await redis.hgetall(key);
    else if (type === 'set') found[name] = (await redis.smembers(key)).sort();
    else if (type === 'zset') found[name] = await redis.zrange(key, '0', '-1', 'WITHSCORES');
    else found[name] = await redis.get(key);
  }
  return JSON.parse(JSON.stringify(found).replaceAll(/(User|Group):(\w{20}) [\w+/=-]+"/g, '$1:$2"'));
}
const restoreWhileStopped = () =>
  bridge.whileStopped(() => commands.run('restore', file, '--replace', '--yes'));
const wipe = async (): Promise<void> => {
  const keys = await scanAll(store.redis, `${prefix}:{default}:*`);
  await store.redis.del(...keys);
};

beforeAll(async () => {
  bridge = await buildBridge({ configure: (config) => void (config.redis.prefix = prefix) });
  commands = createCommands({
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: bridge.sandbox.ready.platformUrl,
        token: bridge.sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
      },
    },
    reconcile: { schedule: null },
  });
  file = join(commands.folder, 'backup.ndjson');
  store = openDesiredStates(bridge.config);
  await untilReady(store.redis, 5000);
  for (let number = 0; number < 12; number++)
    ids.push(await bridge.idp.createUser(`p${number}@acme.example`));
  const members = ids.slice(0, 6).map((value) => ({ value }));
  sales = (await bridge.idp.send('POST', '/Groups', { displayName: 'Sales', members })).body.id;
  await bridge.idp.send('POST', '/Groups', {
    displayName: 'Ops',
    members: [{ value: 'not-there@acme.example' }],
  });
  await bridge.idp.send('DELETE', `/Users/${ids[11]}`);
  await untilSynced();
}, 60_000);

afterAll(async () => {
  store.redis.disconnect();
  commands.remove();
  await bridge.stop();
});

test('a restore puts all data back with the target on hold, and the release then causes no unneeded write', async () => {
  const tenantKey = `${prefix}:{default}:tenant:main`;
  const before = await contents();
  const made = await commands.run('backup', file, '--json');
  expect(made).toMatchObject({
    code: 0,
    json: { counts: { users: 11, groups: 2, members: 6, tombstones: 1 } },
  });
  expect(readFileSync(file, 'utf8')).not.toContain(TOKEN);

  const refused = await commands.run('restore', file);
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining('--replace')]);
  expect(await contents()).toEqual(before);

  const tenant = await store.redis.smembers(tenantKey);
  const restored = await bridge.whileStopped(async () => {
    await wipe();
    // A service that ran with an empty store noted its address: this is no data, and the restore replaces it.
    await store.redis.sadd(tenantKey, 'https://elsewhere.example.com');
    return commands.run('restore', file, '--json');
  });
  expect([restored.code, restored.text]).toEqual([0, expect.anything()]);
  expect(restored).toMatchObject({
    json: { dropped: 0, connections: ['default'], counts: { users: 11 } },
  });
  await expect(store.redis.smembers(tenantKey)).resolves.toEqual(tenant);
  expect(await contents()).toEqual(before);

  const [row] = (await commands.run('status', '--json')).json;
  expect(row.hold.note).toContain('restored from');
  const late = await bridge.idp.createUser('late@acme.example');
  await bridge.platform.forgetRequests();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await bridge.platform.user('late@acme.example')).toBeUndefined();
  await commands.run('release');
  await untilSynced();
  expect(await bridge.platform.user('late@acme.example')).toMatchObject({ active: true });
  const writes = await bridge.platform.writes();
  expect(writes.filter(({ path }) => !path.includes('Users'))).toEqual([]);
  expect(writes.map(({ method }) => method).sort()).toEqual(['PATCH', 'POST']);
  // The group still waits for its member without a user.
  const expected = await bridge.idp.createUser('not-there@acme.example');
  await untilSynced();
  expect((await bridge.platform.group('Ops'))?.members).toEqual(['not-there@acme.example']);
  await Promise.all([late, expected].map((id) => bridge.idp.send('DELETE', `/Users/${id}`)));
  await untilSynced();
}, 120_000);

test('restoring a damaged, cut or foreign file changes nothing', async () => {
  await commands.run('backup', file, '--overwrite');
  const before = await contents();
  const text = readFileSync(file, 'utf8');
  const broken = join(commands.folder, 'broken.ndjson');
  const faults: [string, string][] = [
    [text.replace('p3@acme.example', 'p4@acme.example'), 'altered or damaged'],
    [text.slice(0, text.lastIndexOf('{"end"')), 'no end'],
    [text.split('\n').toSpliced(3, 1).join('\n'), 'checksum'],
    [`${text}{"more":1}\n`, 'goes on'],
    [`{"format":"${'x'.repeat(33 * 1024 * 1024)}`, 'Line 1 of the file is longer'],
    [text.slice(0, text.length / 2), 'is no JSON'],
    ['{"hello":1}\n', 'no backup'],
    [text.replaceAll('"default"', '"other"'), 'checksum'],
  ];
  for (const [content, words] of faults) {
    writeFileSync(broken, content);
    const { code, text: said } = await commands.run('restore', broken, '--replace', '--yes');
    expect([code, said]).toEqual([1, expect.stringContaining(words)]);
  }
  expect(await contents()).toEqual(before);
  expect((await commands.run('status', '--json')).json[0].hold).toBeNull();
}, 60_000);

test('a backup taken during pushes is consistent: after its restore, names, order, members and tombstones agree with the users', async () => {
  let isOver = false;
  const pushing = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const id = ids[turn % 6] ?? '';
      await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: `Name ${turn}` });
      const op = turn % 2 ? 'add' : 'remove';
      await bridge.idp.patch(`/Groups/${sales}`, { op, path: 'members', value: [{ value: id }] });
      const passing = await bridge.idp.createUser(`t${turn}@acme.example`);
      await bridge.idp.patch(`/Users/${ids[6]}`, {
        op: 'replace',
        path: 'userName',
        value: `r${turn}@acme.example`,
      });
      if (turn % 3 === 0) await bridge.idp.send('DELETE', `/Users/${passing}`);
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await commands.run('backup', file, '--overwrite')).code).toBe(0);
  isOver = true;
  await pushing;
  await untilSynced();
  expect((await restoreWhileStopped()).code).toBe(0);
  const found = (await contents()) as Record<string, any>;
  const users = new Set(Object.keys(found.users));
  for (const holder of Object.values(found.userNames)) expect(users).toContain(holder);
  expect(Object.keys(found.userNames)).toHaveLength(users.size);
  for (const [key, members] of Object.entries(found)) {
    if (!key.startsWith('members:')) continue;
    for (const user of members)
      expect(found.groupsOf[user].split(',')).toContain(key.slice('members:'.length));
  }
  expect(found['order:User'].filter((_: string, index: number) => index % 2 === 0).sort()).toEqual(
    [...users].sort(),
  );
  for (const id of Object.keys(found.tombstones)) expect(users).not.toContain(id);
  await commands.run('release');
  await untilSynced();
}, 120_000);

test('a change that a worker is syncing during the backup is synced after the restore', async () => {
  await commands.run('hold');
  const passing = await bridge.idp.createUser('passing@acme.example');
  await bridge.idp.send('DELETE', `/Users/${passing}`);
  // The state between the claim and the start of the sync: the mark exists, its entry in the due list is removed.
  await store.redis.zrem(`${prefix}:{default}:dirty:main`, `User:${passing}`);
  await commands.run('backup', file, '--overwrite');
  expect((await restoreWhileStopped()).code).toBe(0);
  await commands.run('release');
  await untilSynced();
}, 60_000);

test('a person who was forgotten after the backup stays deleted after its restore, and can be forgotten again', async () => {
  const name = 'forgotten@acme.example';
  const id = await bridge.idp.createUser(name);
  await untilSynced();
  await commands.run('backup', file, '--overwrite');
  await bridge.idp.send('DELETE', `/Users/${id}`);
  await untilSynced();
  expect((await commands.run('forget', name, '--yes')).code).toBe(0);
  const restored = await restoreWhileStopped();
  expect(restored.text).toContain(`stored as deleted at the identity provider: User:${id}.`);
  expect((await bridge.idp.send('GET', `/Users/${id}`)).status).toBe(404);
  await bridge.platform.forgetRequests();
  await commands.run('release');
  await untilSynced();
  expect(await bridge.platform.user(name)).toMatchObject({ active: false });
  expect(await commands.run('plan')).toMatchObject({
    code: 0,
    text: expect.stringMatching(/main: (no changes|nothing to write)/),
  });
  expect(await commands.run('forget', `User:${id}`, '--yes')).toMatchObject({ code: 0 });
}, 60_000);

test('links import restores an exported link, and refuses a line with a foreign account, an unknown account, user or target, or invalid JSON', async () => {
  const out = join(commands.folder, 'links.ndjson');
  expect((await commands.run('links', 'export', out)).code).toBe(0);
  const rows = readFileSync(out, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const mine = rows.find(({ name }) => name === 'p7@acme.example');
  expect(mine).toMatchObject({
    kind: 'User',
    target: 'main',
    externalId: 'ext-p7@acme.example',
    origin: 'created',
  });
  const listed = (await commands.run('links', 'list', '--kind', 'User', '--json')).json;
  expect(listed.length).toBeGreaterThanOrEqual(11);

  await commands.run('hold');
  const forgotten = await commands.run('links', 'forget', 'p7@acme.example', '--json');
  expect(forgotten).toMatchObject({ code: 0, json: [{ platformId: mine.platformId }] });
  expect((await commands.run('links', 'show', 'p7@acme.example', '--json')).json[0].platformId).toBeNull();
  expect((await commands.run('links', 'forget', 'p7@acme.example')).code).toBe(1);
  expect((await commands.run('links', 'show', 'nobody')).code).toBe(4);

  const someone = rows.find(({ name }) => name === 'p8@acme.example');
  const given = (row: object): void => writeFileSync(out, `${JSON.stringify(row)}\n`);
  given({ ...mine, platformId: someone.platformId });
  expect(await commands.run('links', 'import', out, '--json')).toMatchObject({
    code: 1,
    json: { counts: { mismatch: 1 } },
    errors: `line 1: mismatch: User p7@acme.example, default → main: ${someone.platformId} has the externalId ext-p8@acme.example, not ext-p7@acme.example`,
  });
  given({ ...mine, platformId: 'gone' });
  expect(await commands.run('links', 'import', out, '--json')).toMatchObject({
    json: { counts: { absent: 1 } },
    errors: 'line 1: absent: User p7@acme.example, default → main: the platform has no id gone',
  });
  given({ ...mine, ref: 'User:00000000000000000000', name: 'nobody', externalId: null });
  expect(await commands.run('links', 'import', out, '--json')).toMatchObject({
    json: { counts: { unknown: 1 } },
    errors: 'line 1: unknown: User nobody, default → main: no resource, or more than one, has this ref, externalId or name', // prettier-ignore
  });
  given({ ...mine, target: 'lab' });
  expect((await commands.run('links', 'import', out)).errors).toBe(
    'line 1: unknown: User p7@acme.example, default → lab: the settings have no such connection with this target',
  );
  writeFileSync(out, 'no JSON\n');
  expect((await commands.run('links', 'import', out)).errors).toMatch(
    /^line 1: invalid: a line is a JSON object with /,
  );
  given({ ...mine, ref: 'User:00000000000000000000' });
  expect((await commands.run('links', 'import', out, '--dry-run', '--json')).json.counts).toEqual({
    imported: 1,
  });
  expect((await commands.run('links', 'show', 'p7@acme.example', '--json')).json[0].platformId).toBeNull();
  expect((await commands.run('links', 'import', out, '--json')).json.counts).toEqual({ imported: 1 });
  expect((await commands.run('links', 'import', out, '--json')).json.counts).toEqual({ unchanged: 1 });
  await commands.run('release');
  await untilSynced();
  const after = await commands.run('explain', 'p7@acme.example', '--json');
  expect(after.json[0]).toMatchObject({ verdict: 'asDesired', link: { platformId: mine.platformId } });

  // The audit log contains only orders that were executed, and a restore keeps it.
  const acts = (await commands.run('acts', '--json')).text.trim().split('\n');
  const known = acts.map((line) => JSON.parse(line) as { act: string; by: string; via: string });
  expect(known.slice(0, 4).map(({ act }) => act)).toEqual(['release', 'importLinks', 'forgetLink', 'hold']);
  expect(known.at(-1)).toMatchObject({ act: 'restore', via: 'command', by: expect.stringMatching(/./) });
  expect((await restoreWhileStopped()).code).toBe(0);
  const { text } = await commands.run('acts');
  expect(text.trim().split('\n')).toHaveLength(acts.length + 1);
  expect(text).toMatch(/^\S+ {2}default {2}restore backup of .+ by .+, command\n/);
  expect(await commands.run('acts', '--verify')).toMatchObject({
    code: 0,
    text: `default: ${acts.length + 1} entries, none altered`,
  });
}, 60_000);
