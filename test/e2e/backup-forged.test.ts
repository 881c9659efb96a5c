// Tests a backup that was modified: its tokens authenticate nobody without the operator's consent, and an HMAC refuses it.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { digestOf } from '../../src/tokens/secret.ts';

const PLANTED = `scimb_${'p'.repeat(43)}`;
const KEY = 'a-key-for-backups-0123456789';

let bridge: Bridge;
let open: Commands;
/** The same settings with `backup.key`. */
let keyed: Commands;
let secret: string;

beforeAll(async () => {
  const prefix = `test-${randomUUID()}`;
  bridge = await buildBridge({ role: 'api', configure: (config) => void (config.redis.prefix = prefix) });
  const settings = {
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
  };
  open = createCommands(settings);
  keyed = createCommands({ ...settings, backup: { key: KEY } });
  secret = (await open.run('token', 'create', 'entra', '--json')).json.secret;
  for (let number = 0; number < 3; number++) await bridge.idp.createUser(`p${number}@acme.example`);
}, 60_000);

afterAll(async () => {
  open.remove();
  keyed.remove();
  await bridge.stop();
});

const opens = async (token: string): Promise<boolean> => {
  const url = `http://127.0.0.1:${bridge.app.port}/scim/v2/Users?count=0`;
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status === 200;
};
const path = (name: string): string => join(open.folder, name);
const users = async (): Promise<number> =>
  (await bridge.idp.send('GET', '/Users?count=0')).body.totalResults as number;

/** Restores with the settings `open`, while the bridge is stopped. */
const restore = (...args: string[]) =>
  bridge.whileStopped(() => open.run('restore', ...args, '--replace', '--yes'));

/** Writes a file with these lines between the first and the last, and valid checksums. */
function forge(from: string, name: string, change: (lines: string[]) => string[]): string {
  const [head = '', ...rest] = readFileSync(from, 'utf8').trim().split('\n');
  const lines = [head, ...change(rest.slice(0, -1))];
  const end = JSON.parse(rest.at(-1) ?? '');
  const sha256 = createHash('sha256').update(lines.map((line) => `${line}\n`).join('')).digest('hex'); // prettier-ignore
  writeFileSync(
    path(name),
    `${[...lines, JSON.stringify({ ...end, lines: lines.length, sha256 })].join('\n')}\n`,
  );
  return path(name);
}

const planted = JSON.stringify({
  connection: 'default',
  family: 'plain',
  key: 'tokens',
  type: 'hash',
  items: [
    [
      'helpful\u001b[2J\nnothing to see',
      JSON.stringify({
        digest: digestOf(PLANTED).toString('base64url'),
        createdAt: 1,
        createdBy: 'x',
        expiresAt: null,
      }),
    ],
  ],
});

test('a restore leaves out a token that somebody added to the backup file with valid checksums, and prints its name', async () => {
  await open.run('backup', path('planted-of.ndjson'));
  const file = forge(path('planted-of.ndjson'), 'planted.ndjson', () => [planted]);
  const { code, text } = await restore(file);
  expect(code).toBe(0);
  expect(text).toContain('helpful\\u001b[2J\\nnothing to see opens default');
  expect(text).not.toContain('\u001b');
  expect(text).toContain('were left out');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect([await opens(PLANTED), await opens(secret), await users()]).toEqual([false, true, 0]);
  expect((await restore(path('planted-of.ndjson'))).code).toBe(0);
  expect(await users()).toBe(3);
}, 60_000);

test('restore --tokens take restores tokens, and the audit log names them', async () => {
  const file = path('tokens.ndjson');
  await open.run('backup', file);
  await open.run('token', 'revoke', 'entra');
  await eventually('the token is revoked', async () => !(await opens(secret)));
  const kept = await restore(file, '--json');
  expect(kept.json.tokens).toMatchObject({
    taken: false,
    ofFile: [{ connection: 'default', name: 'entra' }],
  });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await opens(secret)).toBe(false);
  const taken = await restore(file, '--tokens', 'take');
  expect(taken.text).toContain('Inbound tokens of the file are valid now: entra (default).');
  await eventually('the token opens again', () => opens(secret));
  expect((await open.run('acts')).text).toContain('with the inbound tokens default/entra');
}, 60_000);

test('with backup.key a backup file without a valid HMAC is refused before anything changes', async () => {
  const before = await users();
  await open.run('backup', path('unsigned.ndjson'));
  await keyed.run('backup', path('signed.ndjson'));
  const altered = forge(path('signed.ndjson'), 'altered.ndjson', (lines) => lines.slice(0, -1));
  for (const [file, words] of [
    [path('unsigned.ndjson'), 'has no HMAC'],
    [altered, 'HMAC of the backup does not fit'],
  ] as const) {
    const refused = await keyed.run('restore', file, '--replace', '--yes');
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining(words)]);
    expect(refused.text).toContain('--accept-forgeable');
  }
  expect(await users()).toBe(before);
  for (const args of [[path('signed.ndjson')], [path('unsigned.ndjson'), '--accept-forgeable']]) {
    const restored = await bridge.whileStopped(() => keyed.run('restore', ...args, '--replace', '--yes'));
    expect([args, restored.code]).toEqual([args, 0]);
  }
  expect(await users()).toBe(before);
}, 60_000);

test('a restore checks every line of the file before it removes anything from Redis, and its refusal names the line', async () => {
  await open.run('backup', path('good.ndjson'));
  const before = await users();
  const line = (value: object): string => JSON.stringify({ connection: 'default', ...value });
  const bad: [string, string][] = [
    [line({ family: 'users', items: [['../x', '1 1 1 active []\n{"schemas":[]}']] }), 'not well formed'],
    [line({ family: 'users', items: [['abc', '1 1 1 active []\n{"schemas":']] }), 'not well formed'],
    [line({ family: 'links', target: 'main', items: [['User:x', 'no JSON']] }), 'not well formed'],
    [line({ family: 'members', id: 'g', items: [7] }), 'not well formed'],
    [line({ family: 'order', id: 'User', items: [['x', 'NaN']] }), 'not well formed'],
    [
      line({ family: 'plain', key: 'tokens', type: 'hash', items: [['x', '{"digest":"short"}']] }),
      'not well formed',
    ],
    [line({ family: 'plain', key: 'userNames', type: 'hash', items: [['x', 'y']] }), 'no family'],
    [line({ family: 'plain', key: 'tokens', type: 'set', items: ['x'] }), 'no family'],
    [
      line({ family: 'plain', key: 'log:main', type: 'stream', items: [['1-1', ['odd']]] }),
      'not well formed',
    ],
    [line({ family: 'secrets', items: [1] }), 'no family'],
    [line({ connection: 'other', family: 'members', id: 'g', items: ['u'] }), 'does not name'],
    ['[]', 'no family'],
    ['{', 'no JSON'],
  ];
  for (const [index, [text, words]] of bad.entries()) {
    const file = forge(path('good.ndjson'), `bad-${index}.ndjson`, (lines) => [...lines, text]);
    const refused = await open.run('restore', file, '--replace', '--yes');
    expect([text, refused.code, refused.text]).toEqual([text, 1, expect.stringContaining(words)]);
    expect(refused.text).toMatch(/Line \d+ of the backup/);
  }
  expect(await users()).toBe(before);
}, 60_000);

test('`backup` writes a new file that only its owner can read, and refuses to follow a link or overwrite a file', async () => {
  const [file, elsewhere, link] = [path('new.ndjson'), path('elsewhere'), path('link.ndjson')];
  expect((await open.run('backup', file)).code).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(elsewhere, 'mine', { mode: 0o644 });
  symlinkSync(elsewhere, link);
  for (const taken of [file, link, elsewhere])
    expect(await open.run('backup', taken)).toMatchObject({
      code: 1,
      text: expect.stringContaining('--overwrite'),
    });
  expect((await open.run('backup', link, '--overwrite')).code).toBe(0);
  expect([lstatSync(link).isSymbolicLink(), readFileSync(elsewhere, 'utf8')]).toEqual([false, 'mine']);
  expect(existsSync(`${link}.part`)).toBe(false);
}, 60_000);
