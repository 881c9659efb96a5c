// Tests that rejected removals of members and rejected deletions of groups are kept, and judged anew after `approvals withdraw`.
import { randomUUID } from 'node:crypto';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../support/bridge-process.ts';
import { byHand } from '../support/by-hand.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';

const TOKEN = 'a-token-for-tests-only-0123456789';
const PEOPLE = ['m0@acme.example', 'm1@acme.example', 'm2@acme.example', 'm3@acme.example'];

let sandbox: Sandbox;
let bridge: BridgeProcess;
let commands: Commands;
let idp: Idp;
let platform: PlatformView;
const ids: string[] = [];

const json = async (...args: string[]): Promise<any> => (await commands.run(...args, '--json')).json;
const untilSynced = () =>
  eventually('nothing is left to do', async () => (await json('status'))[0].dirty === 0, 60_000);
const exceptions = async (): Promise<string[]> =>
  (await json('exceptions')).map(({ name, reason }: { name: string; reason: string }) => `${name} ${reason}`);
const membersOf = async (group: string) => (await platform.group(group))?.members.length;
const held = async () => {
  const [newest] = await json('approvals', 'list');
  return newest;
};
async function decide(action: 'approve' | 'reject' | 'withdraw', id: string): Promise<void> {
  expect(await commands.run('approvals', action, id, '--yes')).toMatchObject({ code: 0 });
  await untilSynced();
}
async function createGroup(name: string): Promise<string> {
  const group = await idp.createGroup(name, ids);
  await eventually('all are members', async () => (await membersOf(name)) === ids.length);
  await untilSynced();
  return group;
}

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
        guard: { removeMembers: { count: 1, percent: 100 } },
      },
    },
    reconcile: { schedule: null },
  };
  commands = createCommands(settings);
  bridge = await startBridgeProcess(settings);
  idp = createIdp(bridge.baseUrl, TOKEN);
  platform = createPlatformView(sandbox.ready.controlUrl);
  for (const name of PEOPLE) ids.push(await idp.createUser(name));
  await untilSynced();
}, 60_000);

afterAll(async () => {
  await bridge.stop();
  await sandbox.stop();
  commands.remove();
});

test('removals of members are rejected → they stay exceptions after further pushes, and are held again once the rejection is withdrawn', async () => {
  const group = await createGroup('crew');
  await idp.send('PUT', `/Groups/${group}`, { displayName: 'crew', members: [] });
  await untilSynced();
  const { id } = await held();
  await decide('reject', id);
  expect(await exceptions()).toEqual(['crew Rejected']);

  // A rename, and a new group with the same members, are written and do not end the rejection.
  await idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'team' });
  await untilSynced();
  await createGroup('others');
  expect(await exceptions()).toEqual(['team Rejected']);
  expect(await membersOf('team')).toBe(4);
  const plan = (await commands.run('plan')).text;
  expect(plan).toContain('a person rejected the removal of members');
  expect(plan).not.toContain('no record of adding');
  const [reconciled] = await json('reconcile', '--yes');
  expect(reconciled.outcome).toBe('converged');
  expect(reconciled.counts).not.toHaveProperty('removeMember');
  const explained = (await commands.run('explain', PEOPLE[0] ?? '')).text;
  expect(explained).toContain('is left alone at main');
  expect(explained).toContain('a person rejected the removal');

  await decide('withdraw', id);
  expect(await exceptions()).toEqual(['team Held']);
  const again = await held();
  expect(again).toMatchObject({ state: 'held', kinds: { removeMembers: 4 } });
  expect(await membersOf('team')).toBe(4);
  await decide('approve', again.id);
  expect(await membersOf('team')).toBe(0);
  expect(await exceptions()).toEqual([]);
}, 120_000);

test('rejected removals are approved → they are written, except those of members whom the source added again', async () => {
  const group = await createGroup('night');
  await idp.send('PUT', `/Groups/${group}`, { displayName: 'night', members: [] });
  await untilSynced();
  const { id } = await held();
  await decide('reject', id);
  await idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: ids[0] }] });
  await untilSynced();
  expect(await exceptions()).toEqual(['night Rejected']);
  await decide('approve', id);
  expect((await platform.group('night'))?.members).toHaveLength(1);
  expect(await exceptions()).toEqual([]);
}, 120_000);

test('the source adds all members with a rejected removal again → the rejection ends', async () => {
  const group = await createGroup('day');
  await idp.send('PUT', `/Groups/${group}`, { displayName: 'day', members: [] });
  await untilSynced();
  await decide('reject', (await held()).id);
  const members = ids.map((value) => ({ value }));
  await idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: members });
  await untilSynced();
  expect(await exceptions()).toEqual([]);
  expect(await membersOf('day')).toBe(4);
}, 120_000);

test("a group is deleted at the platform and created again without a member → the rejection of this member's removal ends", async () => {
  const group = await createGroup('anew');
  const members = ids.slice(2).map((value) => ({ value }));
  await idp.send('PUT', `/Groups/${group}`, { displayName: 'anew', members });
  await untilSynced();
  await decide('reject', (await held()).id);
  expect(await exceptions()).toEqual(['anew Rejected']);
  const { groups } = await platform.state();
  const made = groups.find(({ displayName }) => displayName === 'anew')?.scimId ?? '';
  await byHand({ sandbox }, 'DELETE', `/Groups/${made}`);
  await json('reconcile', '--yes');
  await eventually('the group is made anew', async () => (await membersOf('anew')) === 2);
  await untilSynced();
  expect(await exceptions()).toEqual([]);
  expect(await commands.run('status')).toMatchObject({ code: 0 });
}, 120_000);

test("the rejection of a group's deletion is withdrawn → the deletion is held again", async () => {
  const group = await createGroup('gone');
  await idp.send('DELETE', `/Groups/${group}`);
  await untilSynced();
  const { id } = await held();
  await decide('reject', id);
  expect(await exceptions()).toEqual(['gone Rejected']);
  const withdraw = `approvals withdraw ${id} --ref Group:${group}`;
  expect((await commands.run('sync', PEOPLE[0] ?? '')).text).toContain(
    `nothing to do: an operator rejected the removal from 1 group, so the person stays there: gone; scim-bridge ${withdraw} takes that back`,
  );
  expect(await commands.run(...withdraw.split(' '), '--yes')).toMatchObject({ code: 0 });
  await untilSynced();
  expect(await membersOf('gone')).toBe(4);
  const again = await held();
  expect(again).toMatchObject({ state: 'held', kinds: { delete: 1, removeMembers: 4 } });
  await decide('reject', again.id);
  // Although the rejection of the deletion alone is withdrawn, the group stays, because the removals of its members are rejected.
  await decideKind('withdraw', again.id, 'delete');
  expect(await membersOf('gone')).toBe(4);
  await decide('withdraw', again.id);
  await decide('approve', (await held()).id);
  expect(await platform.group('gone')).toBeUndefined();
  expect(await exceptions()).toEqual([]);
}, 120_000);

test('the deletion of a group is rejected and the removals are approved while the target is on hold → sync does not say that a person stays', async () => {
  const group = await createGroup('ended');
  await idp.send('DELETE', `/Groups/${group}`);
  await untilSynced();
  await commands.run('hold', '--by', 'olga');
  for (const [action, kind] of [
    ['reject', 'delete'],
    ['approve', 'removeMembers'],
  ] as const) {
    const decided = await commands.run('approvals', action, (await held()).id, '--kind', kind, '--yes');
    expect(decided).toMatchObject({ code: 0 });
  }
  expect((await commands.run('sync', PEOPLE[0] ?? '')).text).not.toContain('stays');
  await commands.run('release', '--by', 'olga');
  await eventually('all are removed', async () => (await membersOf('ended')) === 0);
}, 120_000);

test('the deletion of a group and its removals are rejected separately → the `approvals withdraw` command that sync prints withdraws the rejection', async () => {
  const group = await createGroup('twice');
  await idp.send('DELETE', `/Groups/${group}`);
  await untilSynced();
  await decideKind('reject', (await held()).id, 'delete');
  await decide('reject', (await held()).id);
  const { text } = await commands.run('sync', PEOPLE[0] ?? '');
  const [, withdraw = ''] = /scim-bridge (approvals withdraw .* --ref \S+) takes that back/.exec(text) ?? [];
  expect(await commands.run(...withdraw.split(' '), '--yes')).toMatchObject({ code: 0 });
  await untilSynced();
  await decide('approve', (await held()).id);
  expect(await membersOf('twice')).toBe(0);
}, 120_000);

async function decideKind(action: 'withdraw' | 'reject', id: string, kind: string): Promise<void> {
  expect(await commands.run('approvals', action, id, '--kind', kind, '--yes')).toMatchObject({ code: 0 });
  await untilSynced();
}
