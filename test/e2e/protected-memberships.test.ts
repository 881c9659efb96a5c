// Tests what becomes of removals from groups that were pushed while a person is protected.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let bob: string;
let analysts: string;

beforeEach(async () => {
  place = await openPlace({});
  const ann = await place.idp.createUser(ANN);
  bob = await place.idp.createUser(BOB);
  analysts = await place.idp.createGroup('analysts', [ann, bob]);
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

const members = async (): Promise<string[] | undefined> =>
  (await place.platform.group('analysts'))?.members.toSorted();
const told = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;
const leaveGroup = (): Promise<unknown> =>
  place.idp.patch(`/Groups/${analysts}`, { op: 'remove', path: `members[value eq "${bob}"]` });

/** Changes the settings, and waits for the end of the reconcile that the restart begins. */
async function reconciledWith(settings: object): Promise<void> {
  const lastRun = async () =>
    (await place.commands.run('status', '--json')).json[0].reconcile.last?.startedAt;
  const before = await lastRun();
  await place.change(({ targets: { main } }) => {
    for (const [name, value] of Object.entries(settings))
      main[name] =
        typeof value === 'object' ? { ...(main[name] as object | undefined), ...(value as object) } : value;
  });
  await eventually('reconciled', async () => (await lastRun()) !== before);
}
async function withTarget(settings: object): Promise<void> {
  await reconciledWith(settings);
  await place.idle();
}
const protect = (names: string[]): Promise<void> => withTarget({ users: { protected: names } });

test('the source removes a protected person from a group → the person leaves the group when the protection ends', async () => {
  await protect([BOB]);
  await leaveGroup();
  await place.idle();
  expect(await members()).toEqual([ANN, BOB]);
  expect(await told('plan')).toContain('users.protected');
  await protect([]);
  expect(await members()).toEqual([ANN]);
  expect(await told('explain', BOB)).toContain('as desired');
}, 60_000);

test('the protection of a member ends → the guard judges the removal that the protection had kept', async () => {
  await protect([BOB]);
  await leaveGroup();
  await place.idle();
  await withTarget({ users: { protected: [] }, guard: { removeMembers: NONE } });
  expect(await members()).toEqual([ANN, BOB]);
  expect(await told('approvals', 'list')).toContain('1 to take out of groups');
  const [id = ''] = /default\.main\.\d+-\d+/.exec(await told('approvals', 'list')) ?? [];
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  expect(await members()).toEqual([ANN]);
}, 60_000);

test('the protection of a person with a held removal and a closed account ends → explain says held, and exceptions does not say protected', async () => {
  await protect([BOB]);
  await leaveGroup();
  await place.idle();
  const account = await place.platform.user(BOB);
  await byHand(place, 'PATCH', `/Users/${account?.scimId}`, { op: 'replace', path: 'active', value: false });
  await reconciledWith({ users: { protected: [] }, guard: { removeMembers: NONE } });
  expect(await told('explain', BOB)).toContain('⏸ The guard holds');
  expect(await told('exceptions')).not.toContain('protected');
  expect(await told('reconcile', '--yes', '--deadline', '20s')).toContain('the guard holds');
  expect((await place.platform.user(BOB))?.active).toBe(false);
}, 60_000);

test('the source removes a protected person from a group and adds the person again → the person stays in the group when the protection ends', async () => {
  await protect([BOB]);
  await leaveGroup();
  await place.idle();
  await place.idp.patch(`/Groups/${analysts}`, { op: 'add', path: 'members', value: [{ value: bob }] });
  await place.idle();
  await protect([]);
  expect(await members()).toEqual([ANN, BOB]);
}, 60_000);

test('the source deletes a protected person → the person leaves the group when the protection ends', async () => {
  await protect([BOB]);
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idle();
  expect(await members()).toEqual([ANN, BOB]);
  await protect([]);
  expect(await members()).toEqual([ANN]);
  expect((await place.platform.user(BOB))?.active).toBe(false);
}, 60_000);

test('after a restart `scim-bridge exceptions` lists a person added to users.protected, and no longer one removed from it', async () => {
  await protect([BOB]);
  expect(await told('exceptions')).toContain(BOB);
  await protect([]);
  expect(await told('exceptions')).not.toContain(BOB);
  expect(await told('explain', BOB)).toContain('as desired');
}, 60_000);

test('the source deletes an adopted group → a protected member stays in it until the protection ends', async () => {
  const { fixtures, platformUrl } = place.sandbox.ready;
  const made = await fetch(`${platformUrl}/api/scim/v2/Groups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'crew' }),
  });
  expect(made.status).toBe(201);
  const crew = await place.idp.createGroup('crew', [bob]);
  await place.idle();
  const present = async () => (await place.platform.group('crew'))?.members;
  expect(await present()).toEqual([BOB]);
  await protect([BOB]);
  await place.idp.send('DELETE', `/Groups/${crew}`);
  await place.idle();
  expect(await present()).toEqual([BOB]);
  expect(await told('exceptions')).toContain('1 member of the group that was deleted at the source stays');
  await protect([]);
  expect(await present()).toEqual([]);
}, 60_000);

test('the source deletes a group that the bridge made → the group is deleted despite a protected member, and the guard counts the other members', async () => {
  const crew = await place.idp.createGroup('crew', [bob]);
  await place.idle();
  await withTarget({ users: { protected: [BOB] }, guard: { removeMembers: NONE } });
  await place.idp.send('DELETE', `/Groups/${crew}`);
  await place.idle();
  expect(await place.platform.group('crew')).toBeUndefined();
  await place.idp.send('DELETE', `/Groups/${analysts}`);
  await place.idle();
  expect(await members()).toEqual([ANN, BOB]);
  expect(await told('approvals', 'list')).toContain('1 to take out of groups');
}, 60_000);

/** Returns the additions of members that the log of the target tells, as `<group>: <members>`, oldest first. */
async function additions(): Promise<string[]> {
  const { text } = await place.commands.run('log', '--limit', '100');
  return [...text.matchAll(/main {2}(\S+) {2}addMembers {2}\d+ members?: ([^[]*?)\s*\[/g)]
    .map(([, group, names]) => `${group}: ${names}`)
    .reverse();
}

test('a protection ends → log lists the addition of the person to a new group, and not the membership that had stayed', async () => {
  await protect([BOB]);
  await place.idp.createGroup('crew', [bob]);
  await place.idle();
  const before = (await additions()).length;
  await protect([]);
  expect((await place.platform.group('crew'))?.members).toEqual([BOB]);
  expect(await members()).toEqual([ANN, BOB]);
  expect((await additions()).slice(before)).toEqual([`crew: ${BOB}`]);
}, 60_000);

test('a formerly protected person joins a new group → the membership is written without reading member lists', async () => {
  await protect([BOB]);
  await protect([]);
  await place.platform.forgetRequests();
  await place.idp.createGroup('crew', [bob]);
  await place.idle();
  expect((await place.platform.group('crew'))?.members).toEqual([BOB]);
  const reads = (await place.platform.requests()).filter(
    ({ method, path }) => method === 'GET' && /[/]Groups[/][^/]+$/.test(path),
  );
  expect(reads).toEqual([]);
}, 60_000);

test('after an import of links, the log reports as added only the memberships that were missing at the platform', async () => {
  const account = await place.platform.user(BOB);
  const file = join(mkdtempSync(join(tmpdir(), 'links-')), 'links.ndjson');
  await place.commands.run('links', 'export', file);
  await place.commands.run('hold');
  const refs = readFileSync(file, 'utf8').trim().split('\n');
  for (const line of refs) {
    const { ref } = JSON.parse(line) as { ref: string };
    expect(await place.commands.run('links', 'forget', ref)).toMatchObject({ code: 0 });
  }
  const group = (await place.platform.state()).groups.find(({ displayName }) => displayName === 'analysts');
  await byHand(place, 'PATCH', `/Groups/${group?.scimId}`, {
    op: 'remove',
    path: `members[value eq "${account?.scimId}"]`,
  });
  expect(await place.commands.run('links', 'import', file)).toMatchObject({ code: 0 });
  const before = (await additions()).length;
  await place.commands.run('release');
  await place.idle();
  expect(await members()).toEqual([ANN, BOB]);
  expect((await additions()).slice(before)).toEqual([`analysts: ${BOB}`]);
}, 60_000);
