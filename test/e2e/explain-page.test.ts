// Tests that the longest page of explain fits a screen and repeats nothing, and that --all and --json have the rest.
import { join } from 'node:path';
import { ADMIN_TOKEN, buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';

const NAME = `${'anna-sophie-'.repeat(23)}x@acme.example`.slice(-256);
const attributes = Object.fromEntries(
  Array.from({ length: 12 }, (_, at) => [
    `level${at}`,
    { type: 'number', from: at < 8 ? 'title' : 'nickName' },
  ]),
);
const groupName = (at: number): string =>
  `team ${at} ${'of the very long department '.repeat(10)}`.slice(0, 300);

let bridge: Bridge;
let commands: Commands;
let id: string;

beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      const { main } = config.targets;
      if (!main) throw new Error('no target');
      main.attributes = attributes as typeof main.attributes;
      main.guard.removeMembers = { count: 0, percent: 0 };
    },
  });
  const { main } = bridge.config.targets;
  commands = createCommands({
    server: { adminToken: ADMIN_TOKEN },
    redis: bridge.config.redis.url
      ? { url: bridge.config.redis.url, prefix: bridge.config.redis.prefix }
      : {},
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: main?.url,
        token: main?.token,
        allowLoopbackHttp: true,
        attributes,
        guard: { removeMembers: { count: 0, percent: 0 } },
      },
    },
    reconcile: { schedule: null },
  });
  const { idp, platform } = bridge;
  // The user is in 30 groups; the guard holds ten of the removals.
  const created = await idp.send('POST', '/Users', {
    userName: NAME,
    externalId: 'x'.repeat(200),
    active: true,
    title: '3',
    nickName: '4',
  });
  expect(created.status).toBe(201);
  id = created.body.id;
  const groups: string[] = [];
  for (let at = 0; at < 30; at++) groups.push(await idp.createGroup(groupName(at), [id]));
  await bridge.idle();
  for (const group of groups.slice(0, 10))
    await idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${id}"]` });
  await bridge.idle();
  // The user has a long timeline.
  for (let at = 0; at < 25; at++) {
    await idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: `Anna ${at}` });
    await bridge.idle();
  }
  // A dead letter whose cause is values that are not numbers.
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'a rank that is no number' });
  await bridge.idle();
  for (let at = 30; at < 40; at++) await idp.createGroup(groupName(at), [id]);
  await bridge.idle();
  // The breaker is open, and a change waits for the release of a hold.
  await platform.control('PATCH', '/faults', { status5xx: { share: 1 } });
  for (let at = 0; at < 8; at++) await idp.createUser(`late${at}@acme.example`);
  await eventually('the breaker is open', async () => {
    const [row] = (await commands.run('status', '--json')).json;
    return row.breaker.open;
  });
  await commands.run(
    'hold',
    '--note',
    `upgrade ${Array.from({ length: 60 }, (_, at) => `part${at}`).join(' ')}`,
  );
}, 120_000);

afterAll(async () => {
  commands.remove();
  await bridge.stop();
});

/** Returns phrases of five or more words that occur twice on the page, ignoring times and names. */
function repeated(lines: string[]): string[] {
  const seen = new Set<string>();
  const twice: string[] = [];
  for (const line of lines) {
    const words = line
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')
      .split(/\s+/)
      .filter((word) => /^[a-z]/.test(word));
    for (let at = 0; at + 5 <= words.length; at++) {
      const phrase = words.slice(at, at + 5).join(' ');
      if (seen.has(phrase)) twice.push(phrase);
    }
    for (let at = 0; at + 5 <= words.length; at++) seen.add(words.slice(at, at + 5).join(' '));
  }
  return twice;
}

test('explain of a user with long names, 40 groups and many problems fits 40 lines of 100 columns', async () => {
  const { code, text } = await commands.run('explain', id);
  expect(code).toBe(0);
  const lines = text.split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(20);
  expect(lines.length).toBeLessThanOrEqual(40);
  expect(lines.filter((line) => [...line].length > 100)).toEqual([]);
  // The refusal names each attribute with the same words.
  expect(repeated(lines.filter((line) => !/department|level\d/.test(line)))).toEqual([]);
  expect(lines.filter((line, at) => line !== '' && lines.indexOf(line) !== at)).toEqual([]);
  for (const part of ['needs a person', 'On hold since', 'Values', 'Groups:', 'Timeline:'])
    expect(text).toContain(part);
  // The long note of the hold is cut in its middle, and the command behind the note is not.
  expect(text).toContain('scim-bridge release --target main ends it.');
  expect(lines.at(-1)).toBe('Everything: --all, or --json.');
}, 30_000);

test('explain prints each advised command with the program name of the installation, within 100 columns', async () => {
  const program = process.argv[1] ?? '';
  process.argv[1] = join(import.meta.dirname, '../../dist/main.js');
  try {
    // Notes of different lengths move the command over the end of the line.
    for (let length = 8; length <= 48; length += 4) {
      await commands.run('release');
      await commands.run('hold', '--note', 'x'.repeat(length));
      const { text } = await commands.run('explain', id);
      expect(text.replaceAll(/\s+/g, ' ')).toContain('node dist/main.js release --target main');
      expect(text.split('\n').filter((line) => [...line].length > 100)).toEqual([]);
    }
  } finally {
    process.argv[1] = program;
  }
}, 30_000);

test('explain --all and --json print every name in full', async () => {
  const { text } = await commands.run('explain', id, '--all');
  const { json } = await commands.run('explain', id, '--json');
  for (let at = 10; at < 30; at++) {
    expect(text).toContain(groupName(at).trim());
    expect(json[0].memberships.map(({ name }: { name: string }) => name)).toContain(groupName(at));
  }
  expect(text).toContain(NAME);
  expect(text.split('\n').length).toBeGreaterThan(80);
}, 30_000);

test('explain of a user without problems prints a short page', async () => {
  await commands.run('release');
  await bridge.platform.control('PATCH', '/faults', {});
  const quiet = await bridge.idp.createUser('quiet@acme.example');
  await eventually(
    'as desired',
    async () => {
      const [found] = (await commands.run('explain', quiet, '--json')).json;
      return found.verdict === 'asDesired';
    },
    60_000,
  );
  const { text } = await commands.run('explain', quiet);
  expect(text.split('\n').length).toBeLessThanOrEqual(24);
  expect(text).not.toContain('--all');
}, 90_000);

test('explain calls a user held, not pending, when a removal from a group is held', async () => {
  const { idp } = bridge;
  const member = await idp.createUser('member@acme.example');
  const group = await idp.createGroup('held team', [member]);
  await bridge.idle();
  await idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${member}"]` });
  await bridge.idle();
  const { json } = await commands.run('explain', member, '--json');
  expect(json[0]).toMatchObject({ verdict: 'held', memberships: [{ name: 'held team', condition: 'Held' }] });
  expect(json[0].reasons.join()).toMatch(/scim-bridge approvals show default\.main\.\d+/);
  expect((await commands.run('plan')).text).toMatch(/Members were read of (\d+) of \1 groups?\./);
}, 60_000);
