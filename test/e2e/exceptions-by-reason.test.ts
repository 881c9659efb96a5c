// Tests exceptions of each reason: every command and /health report them, and each exception ends again.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBridge, ADMIN_TOKEN, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { askHealth, targetHealth } from '../support/health.ts';
import { scrape } from '../support/scrape.ts';

const prefix = `test-${randomUUID()}`;
let bridge: Bridge;
let commands: Commands;
/** The same store with other mapping rules. */
let changed: Commands;
/** The same store without protected people. */
let unprotected: Commands;

const guard = { deactivate: { count: 1, percent: 100 } };
const user = { protected: ['Boss@acme.example'] };
const attributes = { team: { type: 'string' as const, from: 'title', onEmpty: 'clear' } };

beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      config.redis.prefix = prefix;
      const { main } = config.targets;
      if (!main) throw new Error('no target');
      Object.assign(main.guard, guard);
      Object.assign(main.users, user);
      Object.assign(main.attributes, attributes);
      main.adopt = 'report';
    },
  });
  const settingsWith = (rules: object) => ({
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: bridge.sandbox.ready.platformUrl,
        token: bridge.sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        adopt: 'report',
        rateLimit: { requestsPerSecond: 1000, burst: 1000 },
        users: user,
        guard,
        attributes,
        ...rules,
      },
    },
    reconcile: { schedule: null },
  });
  commands = createCommands(settingsWith({}));
  changed = createCommands(
    settingsWith({ attributes: { ...attributes, floor: { type: 'string', from: 'nickName' } } }),
  );
  unprotected = createCommands(settingsWith({ users: { protected: [] } }));
  await bridge.platform.control('POST', '/fixtures', {
    users: [{ userName: 'there@acme.example', email: 'there@acme.example' }],
  });
}, 60_000);
afterAll(async () => {
  commands.remove();
  changed.remove();
  unprotected.remove();
  await bridge.stop();
});

const run = (...args: string[]) => commands.run(...args);
const json = async (...args: string[]) => (await run(...args, '--json')).json;
const untilSynced = () =>
  eventually('nothing is dirty', async () => (await json('status'))[0].dirty === 0, 30_000);
const setActive = (id: string, value: boolean) =>
  bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value });
const isActive = async (name: string) => (await bridge.platform.user(name))?.active;
const hire = async (...names: string[]) => {
  const ids = await Promise.all(names.map((name) => bridge.idp.createUser(name)));
  await untilSynced();
  return ids;
};
const admin = async (path: string) => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const answer = await fetch(`http://127.0.0.1:${bridge.app.port}/admin/v1${path}`, { headers });
  return (await answer.json()) as any;
};
const gauge = (kind: string, count: number) =>
  eventually(`the metrics show ${count} ${kind}`, async () => {
    const found = await scrape(bridge.app.port);
    const labels = { target: 'main', reason: kind };
    const age = found.value('bridge_exceptions_oldest_seconds', labels);
    return (
      found.value('bridge_exceptions', labels) === count && (count > 0 ? age >= 0 && age < 300 : age === 0)
    );
  });

async function planOf(from: Commands): Promise<any> {
  const file = join(from.folder, 'plan.json');
  await from.run('plan', '--out', file);
  return JSON.parse(readFileSync(file, 'utf8')).plans[0];
}

interface Standing {
  kind: string;
  /** Returns the texts that name this kind of exception. */
  words: string;
  names: string[];
  reason: string;
}

/** Expects that every output names the exceptions of this kind, and that no output calls the target converged. */
async function expectEverywhere({ kind, words, names, reason }: Standing): Promise<void> {
  const count = names.length;
  const status = await run('status', '--json');
  expect(status).toMatchObject({ code: 2, json: [{ exceptions: { [kind]: count } }] });
  const text = await run('status');
  expect(text.code).toBe(2);
  expect(text.text).toMatch(new RegExp(`${count} ${words}`));
  for (const name of names) expect(text.text).toContain(`${name} ${words} since 20`);

  const items = (await json('exceptions', '--reason', kind)) as any[];
  expect(items.map(({ name }) => name).sort()).toEqual(names.toSorted());
  for (const item of items) {
    expect(item).toMatchObject({ connection: 'default', target: 'main', reason: kind });
    expect(item.message).toContain(reason);
    expect(item.advice).not.toBe('');
    expect(Date.now() - Date.parse(item.since)).toBeLessThan(300_000);
  }
  expect(await admin(`/exceptions?reason=${kind}`)).toEqual(items);

  const made = await planOf(commands);
  const planItems = made.exceptions.items.filter((each: any) => each.reason === kind);
  expect(planItems.map(({ name }: any) => name).sort()).toEqual(names.toSorted());
  const written = made.entries.filter((entry: any) => entry.effect === 'apply' && names.includes(entry.name));
  expect(written.filter(({ action }: any) => action !== 'conflict')).toEqual([]);
  const planned = (await run('plan')).text;
  expect(planned).toMatch(/exceptions?, until a person acts/);
  expect(planned).not.toContain('no changes');

  const { components } = (await askHealth(bridge, '/health')).body;
  expect(components['target main'].exceptions[kind]).toBe(count);
  expect(components['target main'].findings.join()).toMatch(new RegExp(`${count} ${words}`));
  expect((await askHealth(bridge, '/readyz')).status).toBe(200);
  await gauge(kind, count);

  if (kind === 'OnHold') return;
  for (const name of names) expect(planned).toMatch(new RegExp(`User ${name}: ${words} since 20`));
  for (const name of names) {
    const explained = (await json('explain', name))[0];
    expect(explained.exception).toMatchObject({ reason: kind });
    expect((await run('explain', name)).text).toMatch(/It is an exception since 20/);
  }
}

const expectNone = async (kind: string) => {
  expect((await json('status'))[0].exceptions).toMatchObject({ [kind]: 0, ages: { [kind]: 0 } });
  expect(await json('exceptions', '--reason', kind)).toEqual([]);
  expect((await targetHealth(bridge)).exceptions[kind]).toBe(0);
};

test('a converged target lists no exceptions', async () => {
  await hire('calm@acme.example');
  const status = await run('status', '--json');
  expect(status.code).toBe(0);
  expect((await run('exceptions')).text).toBe('No exceptions.');
  expect((await run('plan')).text).toContain('no changes. The platform is as desired.');
  expect((await run('reconcile', '--yes')).text).toMatch(/: converged$/m);
}, 30_000);

test('held deactivations are exceptions with the reason Held; after `approvals reject` they are exceptions with the reason Rejected', async () => {
  const names = ['r1@acme.example', 'r2@acme.example', 'r3@acme.example'];
  const ids = await hire(...names);
  for (const id of ids) await setActive(id, false);
  await untilSynced();
  const open: string[] = [];
  for (const name of names) if (await isActive(name)) open.push(name);
  expect(open.length).toBeGreaterThanOrEqual(2);
  const count = open.length;
  await expectEverywhere({
    kind: 'Held',
    words: 'held by the guard',
    names: open,
    reason: 'the guard holds',
  });
  expect((await run('reconcile', '--yes', '--json')).code).toBe(2);

  const [{ id }] = await json('approvals', 'list');
  expect((await run('approvals', 'reject', id, '--yes', '--json')).code).toBe(0);
  await untilSynced();
  await expectNone('Held');
  const rejected = { kind: 'Rejected', words: 'rejected', names: open, reason: 'rejected' };
  await expectEverywhere(rejected);
  const reconciled = await run('reconcile', '--yes');
  expect(reconciled).toMatchObject({ code: 0 });
  expect(reconciled.text).toMatch(
    new RegExp(
      `: converged: except ${count} exceptions \\(${count} rejected\\); see scim-bridge exceptions$`,
      'm',
    ),
  );
  expect((await json('reconcile', '--yes'))[0]).toMatchObject({
    outcome: 'converged',
    exceptions: { Rejected: count },
  });
  expect((await run('status')).text).toContain(`converged, except ${count} exceptions (${count} rejected)`);
  await expectEverywhere(rejected);
}, 120_000);

test('a plan with changed settings lists users with a rejected deactivation as exceptions, not as changes', async () => {
  const plan = await planOf(changed);
  expect(plan.exceptions.total).toBeGreaterThanOrEqual(2);
  const about = plan.entries.filter(({ name }: any) => /^r\d@/.test(name));
  expect(about.filter(({ effect }: any) => effect === 'apply')).toEqual([]);
  expect((await changed.run('plan')).text).toMatch(
    /nothing to write, but the platform is not as desired: \d exceptions/,
  );
  expect((await changed.run('reconcile', '--yes')).text).toMatch(
    /: converged: processes of the service run with other settings .*; except \d exceptions/,
  );
  // Restores the rules of the running bridge.
  await run('reconcile', '--yes');
}, 60_000);

test('the exception about a rejected deactivation ends when an operator approves the deactivation, or when the source reactivates the user', async () => {
  const [first, ...others] = (await json('exceptions', '--reason', 'Rejected')) as any[];
  await setActive(first.ref.slice('User:'.length), true);
  await untilSynced();
  expect((await json('exceptions', '--reason', 'Rejected')).map(({ name }: any) => name)).toEqual(
    others.map(({ name }) => name),
  );
  const decided = (await json('approvals', 'list', '--all')) as any[];
  const { id } = decided.find(({ state }) => state === 'rejected');
  expect((await run('approvals', 'approve', id, '--yes', '--json')).code).toBe(0);
  for (const { name } of others)
    await eventually(`${name} is closed`, async () => (await isActive(name)) === false);
  await untilSynced();
  await expectNone('Rejected');
  expect((await run('status')).code).toBe(0);
}, 60_000);

test('a deleted user with a rejected deactivation is an exception, although the SCIM record is gone', async () => {
  const names = ['d1@acme.example', 'd2@acme.example', 'd3@acme.example'];
  const ids = await hire(...names);
  for (const id of ids) await bridge.idp.send('DELETE', `/Users/${id}`);
  await untilSynced();
  const [{ id }] = await json('approvals', 'list');
  await run('approvals', 'reject', id, '--yes', '--json');
  await untilSynced();
  const open: string[] = [];
  for (const name of names) if (await isActive(name)) open.push(name);
  expect(open.length).toBeGreaterThan(0);
  await expectEverywhere({ kind: 'Rejected', words: 'rejected', names: open, reason: 'rejected' });
  await run('approvals', 'approve', id, '--yes', '--json');
  await untilSynced();
  await expectNone('Rejected');
}, 120_000);

test('a user is an exception as long as users.protected lists the user', async () => {
  await hire('boss@acme.example');
  await expectEverywhere({
    kind: 'Protected',
    words: 'protected',
    names: ['boss@acme.example'],
    reason: 'listed in users.protected',
  });
  expect((await run('reconcile', '--yes')).text).toMatch(/: converged: except 1 exception \(1 protected\)/);
  // Without the name in the settings a plan creates the account.
  expect((await unprotected.run('plan')).text).toContain('+ create user boss@acme.example');
  await bridge.idp.send(
    'DELETE',
    `/Users/${(await json('exceptions', '--reason', 'Protected'))[0].ref.slice('User:'.length)}`,
  );
  await untilSynced();
}, 60_000);

test('an existing account under adopt: report is an exception with the reason NotAdopted, and with the reason Dropped after its dead letter was dropped', async () => {
  await hire('there@acme.example');
  const there = {
    kind: 'NotAdopted',
    words: 'not adopted',
    names: ['there@acme.example'],
    reason: 'adopt is report',
  };
  await expectEverywhere(there);
  const [{ ref }] = await json('exceptions', '--reason', 'NotAdopted');
  expect((await run('dead-letters', 'drop', ref)).code).toBe(0);
  await expectNone('NotAdopted');
  await expectEverywhere({ ...there, kind: 'Dropped', words: 'dropped from the dead letters' });
  await bridge.idp.send('DELETE', `/Users/${ref.slice('User:'.length)}`);
  await untilSynced();
  await expectNone('Dropped');
}, 60_000);

test('a dropped dead letter is an exception until the resource is synced again', async () => {
  const group = await bridge.idp.createGroup('system:all', []);
  await eventually('a dead letter', async () => (await json('dead-letters', 'list')).length === 1);
  await expectNone('Dropped');
  const [{ ref }] = (await json('dead-letters', 'list')).filter(({ kind }: any) => kind === 'Group');
  expect((await run('dead-letters', 'drop', ref)).code).toBe(0);
  expect(await json('exceptions', '--reason', 'Dropped')).toMatchObject([
    { ref, name: 'system:all', message: expect.stringContaining('reserved') },
  ]);
  expect(await run('status', '--json')).toMatchObject({ code: 2, json: [{ blocked: 0 }] });
  expect((await run('status')).text).toContain('1 dropped from the dead letters');
  expect((await run('plan')).text).toContain('Group system:all: dropped from the dead letters since 20');
  expect((await json('explain', 'system:all'))[0]).toMatchObject({
    verdict: 'leftAlone',
    exception: { reason: 'Dropped' },
  });
  await gauge('Dropped', 1);
  await bridge.idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'plain' });
  await eventually('the group is there', async () => (await bridge.platform.group('plain')) !== undefined);
  await untilSynced();
  await expectNone('Dropped');
}, 60_000);

test('a target that an operator put on hold is an exception until the release', async () => {
  await run('hold', '--note', 'upgrade', '--by', 'alice');
  await expectEverywhere({
    kind: 'OnHold',
    words: 'on hold',
    names: ['main'],
    reason: 'alice stopped all writes: upgrade',
  });
  await run('release');
  await expectNone('OnHold');
  expect((await run('status')).code).toBe(0);
}, 60_000);

test('the admin API lists exceptions by limit and offset, and the command refuses an unknown target and a limit of 0', async () => {
  await run('hold');
  expect(await admin('/exceptions?limit=1&offset=1')).toEqual([]);
  expect(await admin('/exceptions?limit=1&offset=0')).toHaveLength(1);
  expect((await run('exceptions', '--target', 'nowhere')).code).toBe(1);
  expect((await run('exceptions', '--limit', '0')).code).toBe(1);
  await run('release');
}, 30_000);
