// Tests that each order of an operator leaves an audit entry with operator, interface and note, written before its effect.
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';

const ADA = 'ada@acme.example';
const ORDER = ['--by', 'ines', '--note', 'ticket 4711'];

let bridge: Bridge;
let commands: Commands;
let user: string;

const lines = (text: string): any[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
const acts = async (...flags: string[]) => lines((await commands.run('acts', '--json', ...flags)).text);
const newest = async () => (await acts('--limit', '1'))[0];

beforeAll(async () => {
  bridge = await buildBridge();
  const { url, token } = bridge.config.targets.main ?? {};
  commands = createCommands({
    redis: { url: bridge.config.redis.url, prefix: bridge.config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests' }] } },
    targets: { main: { url, token, allowLoopbackHttp: true } },
  });
  user = await bridge.idp.createUser(ADA);
  await bridge.idp.createGroup('system:all', [user]);
  await eventually('Ada is active', async () => (await bridge.platform.user(ADA))?.active);
  await eventually('the group is a dead letter', async () => {
    const { json } = await commands.run('dead-letters', 'list', '--json');
    return json.length === 1;
  });
}, 60_000);
afterAll(async () => {
  commands.remove();
  await bridge.stop();
});

test.each([
  ['hold', ['hold'], { target: 'main' }],
  ['release', ['release'], { target: 'main' }],
  ['resync', ['resync'], { target: 'main' }],
  ['sync', ['sync', ADA], { target: 'main' }],
  ['reconcile', ['reconcile', '--yes'], { target: 'main' }],
  ['createToken', ['token', 'create', 'one'], { subject: 'one' }],
  ['revokeToken', ['token', 'revoke', 'one'], { subject: 'one' }],
  ['retryDeadLetters', ['dead-letters', 'retry', '--all'], { count: 1 }],
  ['forgetLink', ['links', 'forget', ADA], { target: 'main' }],
  ['repair', ['doctor', '--repair'], {}],
])(
  'each order of an operator leaves an audit entry with its operator, interface and note: %s',
  async (act, args, details) => {
    await commands.run(...args, ...ORDER);
    const found = await newest();
    expect(found).toMatchObject({ act, by: 'ines', via: 'command', connection: 'default', ...details });
    expect(found.note).toContain('ticket 4711');
  },
);

test('an operator orders to forget a link → the log names this order as the cause of the sync that links the account again', async () => {
  await commands.run('links', 'forget', ADA, '--by', 'olga');
  const adopted = await eventually('the account is linked again', async () => {
    const entries = lines((await commands.run('log', '--resource', ADA, '--action', 'adopt', '--json')).text);
    return entries.find(({ changeId }) => changeId !== 'links:ines');
  });
  expect(adopted).toMatchObject({
    changeId: 'links:olga',
    initiatedBy: { type: 'operator', id: 'links:olga' },
  });
}, 30_000);

test('applying a saved plan leaves an audit entry with the plan and the number of changes', async () => {
  await eventually(
    'all is applied',
    async () => (await commands.run('status', '--json')).json[0].dirty === 0,
  );
  const address = `${bridge.config.targets.main?.url}/api/scim/v2/Users/${(await bridge.platform.user(ADA))?.scimId}`;
  await fetch(address, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${bridge.config.targets.main?.token}`,
      'content-type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: 'Other' }],
    }),
  });
  const file = join(commands.folder, 'plan.json');
  expect((await commands.run('plan', '--out', file)).code).toBe(2);
  await commands.run('apply', file, '--yes', ...ORDER);
  expect(await newest()).toMatchObject({
    act: 'apply',
    by: 'ines',
    count: expect.any(Number),
    target: 'main',
  });
  expect((await newest()).subject).toMatch(/^plan:/);
});

test('an import of links and a restore each leave an audit entry', async () => {
  const links = join(commands.folder, 'links.ndjson');
  await commands.run('links', 'export', links);
  await commands.run('hold');
  await commands.run('links', 'forget', ADA);
  await commands.run('links', 'import', links, ...ORDER);
  const [found] = await acts('--action', 'importLinks');
  expect(found).toMatchObject({ by: 'ines', note: 'ticket 4711' });
  const backup = join(commands.folder, 'backup');
  expect((await commands.run('backup', backup)).code).toBe(0);
  const restored = await bridge.whileStopped(() =>
    commands.run('restore', backup, '--replace', '--yes', ...ORDER),
  );
  expect(restored.code).toBe(0);
  expect(await newest()).toMatchObject({ act: 'restore', by: 'ines', note: 'ticket 4711' });
  await commands.run('release');
});

test('an order without --by is recorded under SCIM_BRIDGE_OPERATOR, else under the pod, else under the system account', async () => {
  const names = ['SCIM_BRIDGE_OPERATOR', 'POD_NAME', 'POD_NAMESPACE', 'SUDO_USER'] as const;
  const before = names.map((name) => process.env[name]);
  const run = async (env: Partial<Record<(typeof names)[number], string>>): Promise<string> => {
    for (const name of names) delete process.env[name];
    Object.assign(process.env, env);
    await commands.run('resync');
    return (await newest()).by;
  };
  try {
    expect(await run({ SCIM_BRIDGE_OPERATOR: 'olga', POD_NAME: 'bridge-0' })).toBe('olga');
    expect(await run({ POD_NAME: 'bridge-0', POD_NAMESPACE: 'identity' })).toBe('pod identity/bridge-0');
    expect(await run({ SUDO_USER: 'sven' })).toBe('sven');
    const newestAct = await newest();
    process.env.SCIM_BRIDGE_OPERATOR = 'o'.repeat(201);
    const refused = await commands.run('resync');
    expect([refused.code, refused.text]).toEqual([
      1,
      expect.stringContaining(
        'SCIM_BRIDGE_OPERATOR has more than 200 characters: name the operator in fewer.',
      ),
    ]);
    expect(await newest()).toEqual(newestAct);
  } finally {
    for (const [index, name] of names.entries()) {
      delete process.env[name];
      if (before[index] !== undefined) process.env[name] = before[index];
    }
  }
});

test('`scim-bridge acts` filters by action and time, limits the number of entries, and exits 1 for an unknown target', async () => {
  expect((await acts('--action', 'resync')).every(({ act }) => act === 'resync')).toBe(true);
  const all = await acts();
  expect(all.length).toBeGreaterThan(10);
  expect(all.map(({ at }) => at)).toEqual(
    all
      .map(({ at }) => at)
      .sort()
      .reverse(),
  );
  expect(await acts('--limit', '3')).toEqual(all.slice(0, 3));
  expect(await acts('--before', all[2].id)).toEqual(all.slice(3));
  expect(await acts('--until', all[4].at)).toEqual(all.filter(({ at }) => at <= all[4].at));
  expect(await commands.run('acts', '--target', 'nowhere')).toMatchObject({ code: 1 });
  expect((await acts('--target', 'main')).some(({ target }) => target === undefined)).toBe(true);
  const verified = await commands.run('acts', '--verify');
  expect(verified).toMatchObject({ code: 0 });
});

test('both logs are deleted with their hash chains → `acts --verify`, `log --verify` and `doctor` report it and exit 1, also after the next order', async () => {
  const { url, prefix } = bridge.config.redis;
  const redis = new Redis(url);
  const keys = ['acts', 'actsChain', 'actsPersonal', 'log:main', 'logChain:main', 'logPersonal:main'];
  expect(await redis.del(...keys.map((key) => `${prefix}:{default}:${key}`))).toBeGreaterThanOrEqual(5);
  redis.disconnect();
  const deleted = await commands.run('acts', '--verify');
  expect(deleted).toMatchObject({
    code: 1,
    text: expect.stringContaining('altered or taken out at the end'),
  });
  expect(await commands.run('log', '--verify')).toMatchObject({ code: 1 });
  await commands.run('hold', ...ORDER);
  const [{ id }] = await acts();
  const begunAnew = await commands.run('acts', '--verify');
  expect(begunAnew).toMatchObject({
    code: 1,
    text: expect.stringContaining(`altered or taken out at ${id}`),
  });
  const { text, code } = await commands.run('doctor');
  expect(text).toContain(`acts: an entry was altered or taken out at ${id}`);
  expect(code).toBe(1);
});
