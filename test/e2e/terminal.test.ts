// Tests hostile values in terminal output: control characters are escaped.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';

const ATTRIBUTE = 'urn:cube:params:1.0:UserAttribute';
const EVIL = 'x\u001b]52;c;eA==\u0007\u009b2J\rforged: line\nforged: another\u202e;=HYPERLINK("http://evil")';

let bridge: Bridge;
let commands: Commands;
const prefix = `test-${randomUUID()}`;

beforeAll(async () => {
  const note = { type: 'string', from: `${ATTRIBUTE}:note` } as const;
  bridge = await buildBridge({
    configure: (config) => {
      config.redis.prefix = prefix;
      if (config.targets.main) config.targets.main.attributes = { note: { ...note, onEmpty: 'clear' } };
    },
  });
  const { platformUrl, controlUrl, fixtures } = bridge.sandbox.ready;
  commands = createCommands({
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: platformUrl,
        token: fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        attributes: { note },
      },
    },
    reconcile: { schedule: null },
  });
  const body = JSON.stringify({ users: [{ userName: `stranger${EVIL}` }] });
  const headers = { 'content-type': 'application/json' };
  await request(`${controlUrl}/fixtures`, { method: 'POST', headers, body }).then(({ body }) => body.dump());
  const id = await bridge.idp.createUser('jo@acme.example', { [ATTRIBUTE]: { note: EVIL } });
  await bridge.idp.send('POST', '/Groups', {
    displayName: 'Sales',
    members: [{ value: id }, { value: `ghost${EVIL}` }],
  });
  await eventually('nothing is dirty', async () => {
    const [row] = (await commands.run('status', '--json')).json;
    return row.dirty === 0;
  });
  await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: `${ATTRIBUTE}:note`, value: `${EVIL} 2` });
  await eventually('the log tells', async () => (await commands.run('log', '--json')).text.includes('52;c'));
}, 60_000);

afterAll(async () => {
  commands.remove();
  await bridge.stop();
});

test.each([
  ['log'],
  ['log', '--json'],
  ['log', '--csv'],
  ['acts'],
  ['plan', '--all', '--full'],
  ['explain', 'jo@acme.example'],
  ['explain', 'Sales'],
  ['explain', 'jo@acme.example', '--json'],
  ['explain', `nobody${EVIL}`],
  ['sync', 'jo@acme.example', '--dry-run'],
  ['links', 'list'],
  ['links', 'export'],
  ['status'],
  ['dead-letters', 'list'],
  ['token', 'list'],
  ['token', 'revoke', `no${EVIL}`],
  ['doctor'],
])(
  'names contain control sequences → the output of %s has no control character and no forged line',
  async (...args) => {
    const { text } = await commands.run(...args);
    expect(text).not.toBe('');
    // eslint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
    expect(text.split('\n').filter((line) => line.startsWith('forged'))).toEqual([]);
  },
);

test('a hostile name contains ESC ] → a coloured plan on a terminal prints no such sequence', async () => {
  const stdout = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY');
  Object.defineProperty(process.stdout, 'isTTY', { value: true, configurable: true });
  try {
    const { text } = await commands.run('plan', '--all', '--full');
    expect(text).not.toContain('\u001b]');
    expect(text).toContain('stranger');
  } finally {
    if (stdout) Object.defineProperty(process.stdout, 'isTTY', stdout);
    else Reflect.deleteProperty(process.stdout, 'isTTY');
  }
});

test('a hostile name would begin a formula → no cell of log --csv does, whether split at comma, semicolon or tab', async () => {
  const rows = (await commands.run('log', '--csv')).text.split('\n');
  const evil = rows.filter((row) => row.includes('HYPERLINK'));
  expect(evil.length).toBeGreaterThan(0);
  for (const row of evil) expect(row).not.toMatch(/(^|[;\t,])"?\s*[=+@]/);
});

test('a saved plan contains no control character', async () => {
  const file = join(commands.folder, 'plan.json');
  await commands.run('plan', '--full', '--out', file);
  const text = readFileSync(file, 'utf8').trimEnd();
  expect(text).toContain('stranger');
  // eslint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
});

test('links exported with hostile names can be imported again', async () => {
  const file = join(commands.folder, 'links.ndjson');
  expect((await commands.run('links', 'export', file)).code).toBe(0);
  expect((await commands.run('links', 'export', file)).code).toBe(1);
  expect(readFileSync(file, 'utf8').trim().split('\n').length).toBeGreaterThan(1);
  expect(await commands.run('links', 'import', file)).toMatchObject({ code: 0 });
});
