// Tests that a rejection concerning a group which is deleted at the source covers what the person rejected and nothing else.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { openDesiredStates } from '../../src/app/open.ts';
import { readSettings } from '../../src/cli/cli.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['p0', 'p1', 'p2', 'p3', 'p4'].map((name) => `${name}@acme.example`);
const [P0 = '', P1 = '', P2 = '', P3 = '', P4 = ''] = NAMES;

let place: Place;
const ids = new Map<string, string>();
let group: string;

async function open(guard: object): Promise<void> {
  place = await openPlace({ target: { guard } });
  for (const name of NAMES) ids.set(name, await place.idp.createUser(name));
  group = await place.idp.createGroup('beta', [...ids.values()]);
  await place.idle();
  await expect(membersOf('beta')).resolves.toEqual(NAMES);
}
afterEach(() => place.stop());

const membersOf = async (name: string): Promise<string[] | undefined> =>
  (await place.platform.group(name))?.members.toSorted();
const json = async (...args: string[]): Promise<any> => (await place.commands.run(...args, '--json')).json;
/** Returns the line of the open approval: its id, then the held changes. */
const held = async (): Promise<string> => (await place.commands.run('approvals', 'list')).text;
const heldId = async (): Promise<string> => (await held()).split(' ')[0] ?? '';
const exceptions = async (): Promise<string[]> =>
  (await json('exceptions')).map(
    ({ name, reason, message }: Record<string, string>) => `${name} ${reason}: ${message}`,
  );
async function leave(name: string): Promise<void> {
  const path = `members[value eq "${ids.get(name) ?? ''}"]`;
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path });
  await place.idle();
}
async function remove(): Promise<void> {
  await place.idp.send('DELETE', `/Groups/${group}`);
  await place.idle();
}
async function decide(action: 'approve' | 'reject' | 'withdraw', id: string, ...part: string[]) {
  const { code, text } = await place.commands.run('approvals', action, id, ...part, '--yes');
  expect(code).toBe(0);
  await place.idle();
  return text;
}

test('a rejected removal keeps one member in a deleted group, and the guard judges the removals of the other members', async () => {
  await open({ removeMembers: { count: 1, percent: 100 } });
  await leave(P0);
  await leave(P1);
  await expect(membersOf('beta')).resolves.toEqual([P1, P2, P3, P4]);
  const rejected = await heldId();
  await decide('reject', rejected);
  await remove();
  await expect(membersOf('beta')).resolves.toEqual([P1, P2, P3, P4]);
  await expect(exceptions()).resolves.toEqual([
    'beta Held: the guard holds the removal of members; a person rejected the removal of other members',
  ]);
  expect(await held()).toContain('  held  3 to take out of groups  ');
  const { text } = await place.commands.run('explain', 'beta');
  expect(text.match(/\(a person rejected the removal\)/g)).toHaveLength(1);

  await decide('approve', await heldId());
  await expect(membersOf('beta')).resolves.toEqual([P1]);
  await expect(exceptions()).resolves.toEqual([
    'beta Rejected: a person rejected the removal of members: the platform keeps what it has',
  ]);
  expect((await place.commands.run('plan')).text).toContain('nothing to write');

  await decide('approve', rejected);
  await expect(place.platform.group('beta')).resolves.toBeUndefined();
  await expect(exceptions()).resolves.toEqual([]);
}, 120_000);

test('the deletion of a group is rejected → the group stays, and approved removals of its members are written', async () => {
  await open({ removeMembers: { count: 0, percent: 0 }, delete: { count: 0, percent: 0 } });
  await remove();
  await decide('reject', await heldId(), '--kind', 'delete');
  await expect(membersOf('beta')).resolves.toEqual(NAMES);
  await expect(exceptions()).resolves.toEqual([
    'beta Held: the guard holds the removal of members; a person rejected the deletion',
  ]);
  await decide('approve', await heldId(), '--person', P2, P3);
  await expect(membersOf('beta')).resolves.toEqual([P0, P1, P4]);
  await decide('approve', await heldId());
  await expect(membersOf('beta')).resolves.toEqual([]);
  await expect(exceptions()).resolves.toEqual([
    'beta Rejected: a person rejected the deletion: the platform keeps what it has',
  ]);
}, 120_000);

test('the deletion of a group is held → approved removals of its members are still written', async () => {
  await open({ removeMembers: { count: 0, percent: 0 }, delete: { count: 0, percent: 0 } });
  await remove();
  await decide('approve', await heldId(), '--person', P2);
  await expect(membersOf('beta')).resolves.toEqual([P0, P1, P3, P4]);
  const answer = await decide('approve', await heldId(), '--kind', 'delete');
  expect(answer).toContain('A group is deleted only after the removals of all its members are approved');
  await expect(membersOf('beta')).resolves.toEqual([P0, P1, P3, P4]);
  // The deletion stays approved: it is not held again.
  expect(await held()).toContain('  held  4 to take out of groups  ');
  await decide('approve', await heldId());
  await expect(place.platform.group('beta')).resolves.toBeUndefined();
}, 120_000);

test('the deletion of a person is approved while other changes stay held → the output of approvals approve mentions no deleted group', async () => {
  const none = { count: 0, percent: 0 };
  place = await openPlace({
    target: { guard: { removeMembers: none, delete: none }, users: { deprovision: 'delete' } },
  });
  for (const name of NAMES.slice(0, 3)) ids.set(name, await place.idp.createUser(name));
  group = await place.idp.createGroup('beta', [ids.get(P1) ?? '', ids.get(P2) ?? '']);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ids.get(P0) ?? ''}`);
  await remove();
  await expect(held()).resolves.toContain('  held  2 to delete, 2 to take out of groups  ');
  const ofPerson = await decide('approve', await heldId(), '--person', P0);
  expect(ofPerson).toContain('3 changes are still held at main.');
  expect(ofPerson).not.toContain('A group is deleted');
  await expect(place.platform.user(P0)).resolves.toBeUndefined();
  // The approval has the deletion of beta, and one removal from it stays held.
  const ofGroup = await decide('approve', await heldId(), '--kind', 'delete');
  expect(ofGroup).toContain('A group is deleted only after the removals of all its members are approved');
}, 120_000);

test('a new group takes over the platform group of a deleted one → rejected and held removals of former members stay in force', async () => {
  await open({ removeMembers: { count: 1, percent: 100 } });
  await leave(P0);
  await leave(P1);
  const rejected = await heldId();
  await decide('reject', rejected);
  await remove();
  group = await place.idp.createGroup('beta', [ids.get(P4) ?? '']);
  await place.idle();
  await expect(membersOf('beta')).resolves.toEqual([P1, P2, P3, P4]);
  await expect(exceptions()).resolves.toEqual([
    'beta Held: the guard holds the removal of members; a person rejected the removal of other members',
  ]);
  expect(await held()).toContain('  held  2 to take out of groups  ');
  expect((await place.commands.run('plan')).text).not.toContain('added by others');
  expect((await place.commands.run('verify-access', P2)).code).toBe(2);
  expect((await place.commands.run('doctor', '--deep')).text).toContain('data default: agrees');

  await decide('approve', await heldId());
  await expect(membersOf('beta')).resolves.toEqual([P1, P4]);
  await expect(exceptions()).resolves.toEqual([
    'beta Rejected: a person rejected the removal of members: the platform keeps what it has',
  ]);
  await decide('approve', rejected);
  await expect(membersOf('beta')).resolves.toEqual([P4]);
  await expect(exceptions()).resolves.toEqual([]);
}, 120_000);

/** Copies the removals of a deleted group to its heir, as a sync does that is killed right behind it. */
async function inheritAndKill(former: string, heir: string): Promise<void> {
  const { folder } = place.commands;
  const opened = openDesiredStates(readSettings({ env: {}, cwd: folder, file: join(folder, 'bridge.json') }));
  try {
    await opened.reach();
    await opened.states[0]?.outboxes.get('main')?.inheritRemovals(former, heir);
  } finally {
    opened.redis.disconnect();
  }
}

test("a new group is renamed before it takes over a deleted group → it gets no removals of that group's members", async () => {
  await open({ removeMembers: { count: 1, percent: 100 } });
  await leave(P0);
  await leave(P1);
  const rejected = await heldId();
  await decide('reject', rejected);
  await remove();
  await place.stopApps();
  await place.start('api');
  const former = group;
  group = await place.idp.createGroup('beta', [ids.get(P4) ?? '']);
  await inheritAndKill(former, group);
  await place.idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'gamma' });
  await place.stopApps();
  await place.start();
  await place.idle();
  await expect(membersOf('gamma')).resolves.toEqual([]);
  await expect(exceptions()).resolves.toEqual([
    'beta Held: the guard holds the removal of members; a person rejected the removal of other members',
  ]);
  expect(await held()).toContain('  held  3 to take out of groups  ');
  const rejections = await place.redis.zrange(
    await place.key(':guardRejected:main:removeMembers'),
    '0',
    '-1',
  );
  expect(rejections).toEqual([`Group:${former} ${ids.get(P1)}`]);
  await decide('approve', await heldId());
  await expect(membersOf('gamma')).resolves.toEqual([P4]);
  await expect(membersOf('beta')).resolves.toEqual([P1]);
  await decide('approve', rejected);
  await expect(place.platform.group('beta')).resolves.toBeUndefined();
  await expect(exceptions()).resolves.toEqual([]);
  expect((await place.commands.run('doctor', '--deep')).text).toContain('data default: agrees');
}, 120_000);

test('a rejected removal keeps a member in a deleted group, although the account was closed at the same time', async () => {
  await open({ removeMembers: { count: 0, percent: 0 } });
  group = await place.idp.createGroup('gamma', [ids.get(P0) ?? '']);
  await place.idle();
  await remove();
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${ids.get(P0) ?? ''}`, { op: 'replace', path: 'active', value: false });
  const rejected = await heldId();
  await place.commands.run('approvals', 'reject', rejected, '--kind', 'removeMembers', '--yes');
  await place.commands.run('release');
  await place.idle();
  await expect(place.platform.user(P0)).resolves.toMatchObject({ active: false });
  await expect(membersOf('gamma')).resolves.toEqual([P0]);
  await expect(exceptions()).resolves.toEqual([
    'gamma Rejected: a person rejected the removal of members: the platform keeps what it has',
  ]);
  await decide('approve', rejected);
  await expect(place.platform.group('gamma')).resolves.toBeUndefined();
  await expect(exceptions()).resolves.toEqual([]);
}, 120_000);
