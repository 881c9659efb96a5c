// Tests the commands of the guard during a mass removal: list, hold, approve, reject, also after kill -9.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { runCli } from '../../src/cli/index.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { unwrapped } from '../support/unwrapped.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';
const PEOPLE = 12;
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-test-'));
const file = join(folder, 'bridge.json');

let sandbox: Sandbox;
let bridge: BridgeProcess;
let idp: Idp;
let platform: PlatformView;
const ids: string[] = [];

const ORDER = ['--by', 'alice', '--note', 'left in May', '--yes', '--json'];

const nameOf = (number: number): string => `c${number}@acme.example`;

/** Runs a command as an operator would, with `--json`. */
async function command(...args: string[]): Promise<{ code: number; answer: any }> {
  const lines: string[] = [];
  const log = jest
    .spyOn(console, 'log')
    .mockImplementation((line) => void lines.push(unwrapped(String(line))));
  const error = jest.spyOn(console, 'error').mockImplementation((line) => void lines.push(String(line)));
  try {
    const code = await runCli(['--config', file, ...args], { ...process.env, NO_COLOR: '1' });
    const text = lines.join('\n');
    return { code, answer: args.includes('--json') && code !== 1 ? JSON.parse(text) : text };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

const status = async () => (await command('status', '--json')).answer[0];
const activeOnes = async (): Promise<string[]> =>
  (await platform.state()).users
    .filter(({ userName, active }) => active && /^c\d+@/.test(userName))
    .map(({ userName }) => userName);
const untilSynced = () =>
  eventually('nothing is left to do', async () => (await status()).dirty === 0, 60_000);

beforeAll(async () => {
  sandbox = await startSandbox();
  const settings = {
    redis: { url: process.env.TEST_REDIS_URL, prefix: `test-${randomUUID()}` },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: sandbox.ready.platformUrl,
        token: sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        rateLimit: { requestsPerSecond: 1000, burst: 200 },
        guard: { deactivate: { count: 3, percent: 100 } },
      },
    },
    reconcile: { schedule: null },
  };
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  bridge = await startBridgeProcess(settings);
  idp = createIdp(bridge.baseUrl, TOKEN);
  platform = createPlatformView(sandbox.ready.controlUrl);
  for (let number = 0; number < PEOPLE; number++) ids.push(await idp.createUser(nameOf(number)));
  await eventually('all active', async () => (await activeOnes()).length === PEOPLE, 20_000);
  await untilSynced();
}, 60_000);

afterAll(async () => {
  await bridge.stop();
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a mass deactivation that is held survives kill -9, and is listed, approved and written', async () => {
  await Promise.all(
    ids.slice(0, 8).map((id) => idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })),
  );
  await bridge.killAndRestart();
  await untilSynced();
  const open = await activeOnes();
  expect(open.length).toBeGreaterThanOrEqual(PEOPLE - 3);
  const { code, answer } = await command('status', '--json');
  expect([code, answer[0].guard.deactivate]).toEqual([2, open.length - 4]);

  const unasked = (await command('approvals', 'list', '--json')).answer[0].id;
  for (const action of ['approve', 'reject'])
    expect(await command('approvals', action, unasked)).toEqual({
      code: 1,
      answer: expect.stringContaining('this order needs --yes'),
    });
  expect((await activeOnes()).length).toBe(open.length);
  expect((await command('approvals', 'list', '--json')).answer[0].id).toBe(unasked);

  const list = await command('approvals', 'list', '--json');
  expect(list.answer).toMatchObject([{ connection: 'default', target: 'main', state: 'held' }]);
  const [{ id }] = list.answer;
  const shown = await command('approvals', 'show', id, '--json');
  const names = shown.answer.items.map(({ name }: { name: string }) => name).sort();
  expect(names).toHaveLength(open.length - 4);
  expect(names.every((name: string) => open.includes(name))).toBe(true);
  const text = (await command('approvals', 'show', id)).answer;
  expect(text).toContain(`${names.length} to deactivate`);
  expect(text).toContain(shown.answer.items[0].name);

  const one = shown.answer.items[0];
  expect(one).toMatchObject({ cause: 'deactivated', reason: 'deactivated at the source' });
  expect(one.since).toMatch(/^2\d{3}-/);
  expect(shown.answer).toMatchObject({
    total: names.length,
    matching: names.length,
    limits: [{ kind: 'deactivate', count: 3, percent: 100, allowance: 3, held: names.length }],
  });
  expect(text).toContain('limit: at most 3 to deactivate within 24 h');
  const page = await command('approvals', 'show', id, '--limit', '1', '--offset', '1', '--json');
  expect(page.answer).toMatchObject({ matching: names.length, items: [{ ref: shown.answer.items[1].ref }] });
  const expiry = (await command('status', '--json')).answer[0].guard.expiresAt;
  expect(expiry).toBe(shown.answer.expiresAt);
  expect((await command('status')).answer).toMatch(RegExp(`expires ${expiry} \\(in 7[12] h`));

  const unknown = await command('approvals', 'approve', id, '--person', 'nobody@acme.example', '--yes');
  expect(unknown).toEqual({
    code: 1,
    answer: expect.stringMatching(/No person is known as nobody@.*[.]\s+For the names in it see/s),
  });
  const none = await command('approvals', 'approve', id, '--cause', 'deleted', '--yes');
  expect([none.code, (await activeOnes()).length]).toEqual([1, open.length]);
  await expect(
    command(...['approvals', 'approve', id, '--person', one.name, '--cause', 'deactivated'], ...ORDER),
  ).resolves.toMatchObject({
    code: 0,
    answer: { items: 1, by: 'alice', kinds: { deactivate: 1 }, remaining: names.length - 1 },
  });
  await eventually('one is closed', async () => !(await activeOnes()).includes(one.name));
  await untilSynced();
  expect(await activeOnes()).toHaveLength(open.length - 1);

  await bridge.killAndRestart();
  await expect(command('approvals', 'approve', id, '--yes', '--json')).resolves.toMatchObject({ code: 0 });
  await eventually('all leavers are closed', async () => (await activeOnes()).length === 4, 20_000);
  await untilSynced();
  expect((await command('status', '--json')).code).toBe(0);
  expect((await command('approvals', 'list')).answer).toBe('The guard holds nothing.');
  const decided = (await command('approvals', 'list', '--all', '--json')).answer;
  expect(decided.map(({ state }: { state: string }) => state)).toEqual(['approved', 'approved']);
  expect(decided[1]).toMatchObject({
    by: 'alice',
    note: 'left in May',
    total: 1,
    selection: `only person ${one.name}; only cause deactivated`,
  });
}, 180_000);

test('a rejected approval changes nothing at the platform, and can be approved later', async () => {
  const left = ids.slice(8);
  await Promise.all(
    left.map((id) => idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })),
  );
  await untilSynced();
  const before = await activeOnes();
  const [{ id }] = (await command('approvals', 'list', '--json')).answer;
  expect((await command('approvals', 'reject', id, '--yes', '--json')).code).toBe(0);
  await untilSynced();
  expect(await activeOnes()).toEqual(before);
  expect((await status()).guard.held).toBe(0);
  expect((await command('approvals', 'approve', id, '--yes', '--json')).code).toBe(0);
  await eventually('closed after all', async () => (await activeOnes()).length === 0);
}, 60_000);

test('approvals show and reject with --group select only the held changes of members of the group', async () => {
  const people: string[] = [];
  for (let number = 100; number < 108; number++) people.push(await idp.createUser(nameOf(number)));
  await idp.createGroup('crew', people.slice(5));
  await untilSynced();
  await Promise.all(
    people.map((id) => idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })),
  );
  await untilSynced();
  const [{ id, total }] = (await command('approvals', 'list', '--json')).answer;
  const { matching, items } = (await command('approvals', 'show', id, '--group', 'crew', '--json')).answer;
  expect(items.every(({ ref }: { ref: string }) => people.slice(5).includes(ref.slice(5)))).toBe(true);
  expect(matching).toBe(items.length);
  expect(matching).toBeGreaterThan(0);
  const { answer } = await command('approvals', 'reject', id, '--group', 'crew', '--yes', '--json');
  expect(answer).toMatchObject({ items: matching, remaining: total - matching });
  const back = await command('approvals', 'withdraw', id, '--person', items[0].name, '--yes', '--json');
  expect(back.answer.items).toBe(1);
  const rest = await command('approvals', 'approve', id, '--kind', 'deactivate', '--yes', '--json');
  expect(rest.answer.items).toBe(total - matching);
}, 60_000);

test('hold stops the writes of a target and release resumes these writes, and each command prints the target', async () => {
  expect((await command('hold', '--note', 'platform upgrade', '--json')).answer).toEqual([
    { connection: 'default', target: 'main', changed: true },
  ]);
  expect((await status()).hold).toMatchObject({ note: 'platform upgrade' });
  const id = await idp.createUser('held-back@acme.example');
  await bridge.killAndRestart();
  expect(await platform.user('held-back@acme.example')).toBeUndefined();
  expect((await command('status')).answer).toContain('on hold since');
  expect((await command('release', '--json')).answer[0].changed).toBe(true);
  await eventually('applied', async () => (await platform.user('held-back@acme.example'))?.active);
  expect(id).not.toBe('');
}, 60_000);

test('commands that name an unknown approval or target exit 1', async () => {
  expect((await command('approvals', 'show', 'default.main.1-2')).code).toBe(1);
  expect((await command('approvals', 'approve', 'nonsense')).code).toBe(1);
  expect((await command('hold', '--target', 'nowhere')).code).toBe(1);
});
