// Tests the protection of the last active administrator: the guard holds the deactivation, and no approval overrides it.
import { randomUUID } from 'node:crypto';
import type { App } from '../../src/app.ts';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { startFront, type Front, type FrontAnswer } from '../support/front.ts';

/** The answer of a platform without `GET /api/v1/users/me`; such tenants exist. */
function nameless(_method: string, url: string): FrontAnswer | undefined {
  if (url.endsWith('/users/me')) return { status: 404, body: '{"error":"Not found"}' };
  if (!url.startsWith('/api/v1/users?')) return undefined;
  lists += 1;
  return isListBroken ? { status: 503 } : undefined;
}

/** Hides the owner of the key in the user list: if an administrator of these tests owned it, closing that account would end all calls. */
function withoutOwner(_method: string, url: string, body: string): string {
  if (!url.startsWith('/api/v1/users?')) return body;
  const { items, ...rest } = JSON.parse(body);
  return JSON.stringify({ ...rest, items: items.filter(({ username }: any) => username !== OWNER) });
}

const prefix = `test-${randomUUID()}`;
const OWNER = 'owner@acme.example';
const ADMIN = 'admin@acme.example';
const SECOND = 'second@acme.example';
let bridge: Bridge;
let worker: App;
let front: Front;
let commands: Commands;
let admin: string;
let second: string;
let clerks: string[];
/** Counts reads of the user list, and lets them fail on request. */
let lists = 0;
let isListBroken = false;

beforeAll(async () => {
  front = await startFront();
  front.answer = nameless;
  front.edit = withoutOwner;
  const { url } = front;
  bridge = await buildBridge({
    role: 'api',
    configure: (config) => {
      config.redis.prefix = prefix;
      const { main } = config.targets;
      if (!main) throw new Error('no target');
      front.platformUrl = main.url;
      main.url = url;
    },
  });
  worker = await bridge.another('worker');
  const token = bridge.sandbox.ready.fixtures.apiKeys.admin;
  commands = createCommands({
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: { main: { url, token, allowLoopbackHttp: true } },
    reconcile: { schedule: null },
  });
  const made = await bridge.platform.control('POST', '/fixtures', {
    users: [OWNER, SECOND].map((userName) => ({ userName, isAdmin: true })),
    apiKeys: [{ name: 'owner', owner: OWNER }],
  });
  front.token = made.apiKeys[0].key;
  admin = await bridge.idp.createUser(ADMIN);
  second = await bridge.idp.createUser(SECOND);
  clerks = await Promise.all([1, 2, 3, 4, 5].map((n) => bridge.idp.createUser(clerk(n))));
  await untilSynced();
}, 60_000);
afterAll(async () => {
  commands.remove();
  await bridge.stop();
  front.stop();
});

const json = async (...args: string[]) => (await commands.run(...args, '--json')).json;
const untilSynced = () => eventually('nothing is dirty', async () => (await json('status'))[0].dirty === 0);
const clerk = (n: number): string => `clerk${n}@acme.example`;
const leave = (id = '') => bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
const back = (id: string) => bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
const isActive = async (name: string) => (await bridge.platform.user(name))?.active;
const approve = async () =>
  commands.run('approvals', 'approve', (await json('approvals', 'list'))[0].id, '--yes', '--json');

test('a deactivation costs one write and one read of the user list, and two concurrent deactivations share the read', async () => {
  await bridge.platform.forgetRequests();
  lists = 0;
  await leave(clerks[0]);
  await eventually('closed', async () => (await isActive(clerk(1))) === false);
  await untilSynced();
  expect([lists, (await bridge.platform.requests()).length]).toEqual([1, 2]);
  await leave(clerks[1]);
  await leave(clerks[2]);
  await eventually('closed', async () => !(await isActive(clerk(2))) && !(await isActive(clerk(3))));
  await untilSynced();
  expect((await bridge.platform.writes()).length).toBe(3);
  expect(lists).toBeLessThanOrEqual(2);
}, 30_000);

test('an administrator is deactivated if another active administrator remains', async () => {
  await leave(second);
  await eventually('the second is closed', async () => (await isActive(SECOND)) === false);
  await untilSynced();
  await expect(json('approvals', 'list')).resolves.toEqual([]);
}, 30_000);

test('the deactivation of the last administrator is approved → the deactivation stays held, and approvals show, plan and explain say that no administrator would be left', async () => {
  await bridge.platform.forgetRequests();
  await leave(admin);
  await untilSynced();
  const [first] = await json('approvals', 'list');
  const approved = await commands.run('approvals', 'approve', first.id, '--yes');
  expect(approved).toMatchObject({ code: 2 });
  expect(approved.text).toContain(`${ADMIN} is closed only if another active administrator is left`);
  await untilSynced();
  await expect(bridge.platform.writes()).resolves.toEqual([]);
  await expect(isActive(ADMIN)).resolves.toBe(true);

  const why = expect.stringContaining('no other active administrator would be left');
  const [{ id }] = await json('approvals', 'list');
  expect((await commands.run('approvals', 'show', first.id)).text).toContain(
    `the guard holds it again: scim-bridge approvals show ${id}`,
  );
  await expect(json('approvals', 'show', id)).resolves.toMatchObject({
    items: [{ name: ADMIN, reason: why }],
  });
  expect((await commands.run('approvals', 'show', id)).text).toEqual(why);
  expect((await commands.run('approvals', 'show', id)).text).toContain('showed at the last sync');
  const status = await commands.run('status', '--json');
  expect(status).toMatchObject({ code: 2, json: [{ guard: { deactivate: 1, held: 1 } }] });
  const reconciled = await commands.run('reconcile', '--yes', '--json');
  expect(reconciled).toMatchObject({ code: 2, json: [{ outcome: 'held', counts: { unmanaged: 3 } }] });
  expect(reconciled.json[0].counts).not.toHaveProperty('deactivate');
  expect(reconciled.json[0].message).toBe(`the guard holds 1 change: scim-bridge approvals show ${id}`);
  expect((await commands.run('plan')).text).toEqual(why);
  await expect(bridge.platform.writes()).resolves.toEqual([]);
  const [explained] = await json('explain', ADMIN);
  expect(explained).toMatchObject({
    verdict: 'held',
    condition: { reason: 'LastAdministrator', message: why },
  });
}, 30_000);

test('the user list cannot be read → only the deactivation of known administrators waits', async () => {
  await back(admin);
  await back(second);
  await eventually('active', () => isActive(SECOND));
  await untilSynced();
  // The cache of the process would hide the failing list.
  await worker.stop();
  await bridge.another('worker');
  isListBroken = true;
  lists = 0;
  await leave(clerks[3]);
  await eventually('closed', async () => (await isActive(clerk(4))) === false, 10_000);
  await leave(clerks[4]);
  await eventually('closed as well', async () => (await isActive(clerk(5))) === false);
  expect(lists).toBe(1);
  const { json: told } = await commands.run('log', '--resource', clerk(4), '--limit', '1', '--json');
  expect(told).toMatchObject({
    operation: 'deactivate',
    provisioningStatusInfo: { status: 'success' },
    provisioningSteps: expect.arrayContaining([
      expect.objectContaining({ description: expect.stringContaining('did not say') }),
    ]),
  });
  await leave(second);
  await eventually('the list is asked for the administrator', () => lists > 1);
  await expect(isActive(SECOND)).resolves.toBe(true);
  isListBroken = false;
  await eventually('closed once the list answers', async () => (await isActive(SECOND)) === false);
}, 60_000);

test('when the only two administrators are deactivated at the same time, at least one of them stays active', async () => {
  await back(admin);
  await back(second);
  await eventually('both are active', async () => (await isActive(ADMIN)) && (await isActive(SECOND)));
  await untilSynced();
  await expect(json('approvals', 'list')).resolves.toEqual([]);
  await Promise.all([leave(admin), leave(second)]);
  await untilSynced();
  const open = [await isActive(ADMIN), await isActive(SECOND)];
  expect(open).toContain(true);
}, 30_000);

const lastAdministrator = async () =>
  (await json('exceptions')).find(({ reason }: { reason: string }) => reason === 'LastAdministrator');

test('an approved deactivation of the last administrator is held again → its log entry says that it is held anew', async () => {
  const { name } = await lastAdministrator();
  await approve();
  await untilSynced();
  const { text } = await commands.run('log', '--status', 'held', '--resource', name, '--limit', '1');
  expect(text).toContain('anew: an earlier approval or hold ended before the change was written');
}, 30_000);

test('another user becomes administrator → the exception of the former last administrator gets the reason Held and keeps its `since`', async () => {
  const { ref, since } = await lastAdministrator();
  await bridge.platform.control('POST', '/fixtures', {
    users: [{ userName: 'third@acme.example', isAdmin: true }],
  });
  await commands.run('reconcile', '--yes');
  await untilSynced();
  expect(await json('exceptions')).toContainEqual(expect.objectContaining({ ref, reason: 'Held', since }));
}, 30_000);

test('another user has become administrator → an approval lets the former last administrator be deactivated', async () => {
  expect(await json('approvals', 'list')).not.toEqual([]);
  await approve();
  await eventually('nobody else stays', async () => !(await isActive(ADMIN)));
}, 30_000);
