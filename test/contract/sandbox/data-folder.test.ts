// Tests `--data DIR`: the state survives restarts and crashes, and invalid files are refused.
import {
  appendFile,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { GROUPS, startRig, USERS, type Rig } from './rig.ts';

let folder: string;
let rigs: Rig[] = [];

async function start(options: object = {}): Promise<Rig> {
  const rig = await startRig({ dataDir: folder, ...options });
  rigs.push(rig);
  return rig;
}
async function restart(rig: Rig): Promise<Rig> {
  await rig.stop();
  return start();
}
const file = () => join(folder, 'state.ndjson');

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'sandbox-')), 'data');
});
afterEach(async () => {
  await Promise.all(rigs.map((rig) => rig.stop().catch(() => undefined)));
  rigs = [];
  await rm(join(folder, '..'), { recursive: true, force: true });
});

test('a sandbox that restarts with its data folder has the same users, groups, values, settings, clock and keys', async () => {
  const rig = await start();
  const user = await rig.user('a@acme.example', {
    externalId: 'x1',
    'urn:cube:params:1.0:UserAttribute': { country: 'DE' },
  });
  const gone = await rig.user('gone@acme.example');
  const group = await rig.group('analysts', [user]);
  await rig.call('DELETE', `${USERS}/${gone.id}`);
  await rig.call('PUT', '/api/v1/deployments/1', { body: { releaseChannelVersion: '1.7.20' } });
  // A snapshot tags values by the property `$` (persistence/plain.ts); here a client has sent one.
  await rig.post('/api/v1/oauth-integrations', { name: 'drive', $: 'map' });
  await rig.control('POST', '/fixtures', {
    folders: [{ deploymentId: '1', name: 'Plans' }],
    grants: [{ user: 'a@acme.example', type: 'DEPLOYMENT', id: '1', action: 'read' }],
  });
  await rig.control('POST', '/branches/view', { deploymentId: '1', branchName: 'feature-a' });
  await rig.control('PATCH', '/settings', { pageCap: 7, groupsRolesMap: { analysts: ['Explorer'] } });
  await rig.control('POST', '/clock', { advanceMs: 86_400_000 });
  const before = await rig.state();
  const later = await restart(rig);
  const after = await later.state();
  expect({ ...after, nowMs: 0 }).toEqual({ ...before, nowMs: 0 });
  expect(later.ready.fixtures).toEqual(rig.ready.fixtures);
  expect((await later.call('GET', `${GROUPS}/${group.id}`)).body.members).toHaveLength(1);
  expect((await later.call('GET', '/api/v1/oauth-integrations')).body).toMatchObject([{ $: 'map' }]);
  expect((await later.post(USERS, { userName: 'A@acme.example' })).status).toBe(409);
  // Ids are not reused after a restart.
  expect((await later.stored((await later.user('new@acme.example')).userName)).id).toBeGreaterThan(
    (await later.stored('a@acme.example')).id + 1,
  );
});

test('a sandbox that restarts with its data folder keeps chat threads and the lifetimes of external users', async () => {
  const rig = await start();
  const ask = (on: Rig, body: object) =>
    fetch(`${on.ready.chatHost}/api/v1/public/acme/agents/1/chat/stream-chat-state`, {
      method: 'POST',
      headers: { authorization: `Api-Key ${on.key('admin')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sessionSettings: { externalId: 'eve', ephemeralTtlSeconds: 60 }, ...body }),
    });
  const text = await (await ask(rig, { input: 'How many orders are there?' })).text();
  const { chatId } = JSON.parse(text.slice(0, text.indexOf('\n'))).state;
  const later = await restart(rig);
  expect(await later.state()).toMatchObject({
    threads: [{ chatId }],
    externalUsers: [{ externalId: 'eve' }],
  });
  await later.control('POST', '/clock', { advanceMs: 61_000 });
  expect((await ask(later, { chatId })).status).toBe(404);
});

test("a created user is in the sandbox's file within two seconds, and a sandbox started from the file has the user", async () => {
  const rig = await start();
  await rig.user('crash@acme.example');
  await eventually(
    'the change is saved',
    async () => (await readFile(file(), 'utf8')).includes('crash@acme.example'),
    2000,
  );
  // A second process starts from these bytes, as after kill -9.
  const later = await start();
  expect((await later.stored('crash@acme.example')).active).toBe(true);
});

test('a half-written file that a killed sandbox left in the data folder is removed at the next start', async () => {
  await (await start()).stop();
  const leftOver = `${file()}.1.tmp`;
  await writeFile(leftOver, '{"format":1');
  // One second after 1970, so that the file is older than any snapshot in progress.
  await utimes(leftOver, 1, 1);
  await start();
  expect(await readdir(folder)).toEqual(['state.ndjson']);
});

test('a half-written file disappears while a sandbox looks for those of killed ones → the sandbox starts', async () => {
  await (await start()).stop();
  // `readdir` lists this link, and a look at its target finds no file, as after the rename by another sandbox.
  await symlink(join(folder, 'gone'), `${file()}.1.tmp`);
  await expect(start()).resolves.toBeDefined();
});

test('after the sandbox stops, its data folder has only the complete file, readable by its owner only', async () => {
  const rig = await start();
  for (const name of ['a', 'b', 'c']) await rig.user(`${name}@acme.example`);
  await rig.stop();
  expect(await readdir(folder)).toEqual(['state.ndjson']);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
});

test('a reset of a sandbox with a data folder restores the seed and the keys of its first start', async () => {
  const rig = await start({ seed: 'large:3' });
  const later = await restart(rig);
  const { body } = await later.control('POST', '/reset', {});
  expect(body.fixtures).toEqual(rig.ready.fixtures);
  expect((await later.state()).users).toHaveLength(6);
  const last = await restart(later);
  expect((await last.state()).users).toHaveLength(6);
});

test('a sandbox refuses to start from a file that is truncated, damaged or of another version, and leaves it unchanged', async () => {
  const rig = await start();
  await rig.stop();
  const whole = await readFile(file(), 'utf8');
  const { size } = await stat(file());
  await truncate(file(), size - 20);
  await expect(start()).rejects.toThrow('cannot be used');
  await writeFile(file(), whole.replace('"format":1', '"format":99'));
  await expect(start()).rejects.toThrow('another version');
  await writeFile(file(), whole);
  await appendFile(file(), '["unknown-part",1]\n');
  await expect(start()).rejects.toThrow('cannot be used');
  expect((await readFile(file(), 'utf8')).startsWith(whole)).toBe(true);
});

test('when a second sandbox writes to the data folder of a running one, the first warns, writes no more and fails at its stop', async () => {
  const warnings: string[] = [];
  const first = await start({ warn: (message: string) => warnings.push(message) });
  await eventually('the first has saved', () => readFile(file()).then(() => true));
  const second = await start();
  await second.user('second@acme.example');
  await second.stop();
  await first.user('first@acme.example');
  await eventually('the first is warned', () => warnings.length > 0);
  expect(warnings[0]).toContain('Another sandbox');
  expect(await readFile(file(), 'utf8')).not.toContain('first@acme.example');
  await expect(first.stop()).rejects.toThrow('Another sandbox');
});
