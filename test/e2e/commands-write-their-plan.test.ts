// Tests that apply and reconcile write exactly their plan when no worker runs: no other resource, and at no other target.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { parseSaved } from '../../src/reconcile/plan.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { eventually } from '../support/eventually.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { scimPatch } from '../support/reconciling.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const LIMITS = Object.fromEntries(
  ['deactivate', 'delete', 'removeMembers', 'clearAttributes'].map((kind) => [
    kind,
    { count: 1000, percent: 100 },
  ]),
);
const mail = (name: string): string => `${name}@acme.example`;

let place: Place;
let other: Sandbox;
let second: PlatformView;
let ids: Record<string, string>;
let file: string;

beforeEach(async () => {
  other = await startSandbox();
  second = createPlatformView(other.ready.controlUrl);
  place = await openPlace({ target: { guard: LIMITS }, roles: [] });
  file = join(place.commands.folder, 'plan.json');
  await place.change(({ targets, connections }) => {
    Object.assign((connections as { default: object }).default, { targets: ['main', 'second'] });
    const { platformUrl, fixtures } = other.ready;
    const own = { url: platformUrl, token: fixtures.apiKeys.admin, groups: { members: 'authoritative' } };
    Object.assign(targets, { second: { ...targets.main, ...own } });
  });
  ids = {};
  for (const name of ['ann', 'bob', 'cid', 'dan']) ids[name] = await place.idp.createUser(mail(name));
  ids.team = await place.idp.createGroup('team', Object.values(ids));
  await place.idle();
  // From here on no worker runs.
  await place.stopApps();
  await place.start('api');
}, 60_000);
afterEach(async () => {
  await place.stop();
  await other.stop();
});

const run = (...args: string[]) => place.commands.run(...args);
const displayName = async (platform: PlatformView, name: string) =>
  (await platform.user(mail(name)))?.displayName;
const isActive = async (platform: PlatformView, name: string) => (await platform.user(mail(name)))?.active;
const rename = (name: string, value: string) =>
  place.idp.patch(`/Users/${ids[name]}`, { op: 'replace', path: 'displayName', value });
const membersOf = async (platform: PlatformView, group: string): Promise<string[]> =>
  ((await platform.state()).groups.find((each) => each.displayName === group)?.members ?? [])
    .map(String)
    .sort();

/** Calls a platform as somebody else. */
async function byHand(sandbox: Sandbox, method: string, path: string, body?: object): Promise<any> {
  const answer = await send(sandbox.ready.platformUrl, method, path, {
    headers: {
      authorization: `Bearer ${sandbox.ready.fixtures.apiKeys.admin}`,
      'content-type': 'application/json',
    },
    body,
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}
const groupPath = async (platform: PlatformView, name: string): Promise<string> =>
  `/api/scim/v2/Groups/${(await platform.state()).groups.find((each) => each.displayName === name)?.scimId}`;

test('a user is deleted at the source after a plan without changes → apply of this plan closes no account', async () => {
  await expect(run('plan', '--out', file)).resolves.toMatchObject({ code: 0 });
  await place.idp.send('DELETE', `/Users/${ids.ann}`);
  await expect(run('apply', file)).resolves.toMatchObject({
    code: 0,
    text: expect.stringContaining('no worker has run since') as string,
  });
  await expect(isActive(place.platform, 'ann')).resolves.toBe(true);
  await expect(isActive(second, 'ann')).resolves.toBe(true);
  // The mark waits for a worker.
  await place.start('worker');
  await place.idle();
  await expect(isActive(place.platform, 'ann')).resolves.toBe(false);
  await expect(isActive(second, 'ann')).resolves.toBe(false);
}, 60_000);

test('a person of a saved plan is deleted at the source → apply exits 3 and changes nothing', async () => {
  await rename('ann', 'Ann New');
  await expect(run('plan', '--out', file)).resolves.toMatchObject({ code: 2 });
  await place.idp.send('DELETE', `/Users/${ids.ann}`);
  await expect(run('apply', file)).resolves.toMatchObject({ code: 3 });
  await expect(isActive(place.platform, 'ann')).resolves.toBe(true);
  await expect(displayName(place.platform, 'ann')).resolves.not.toBe('Ann New');
}, 60_000);

test('a person of the plan is deleted at the source while apply waits for another run → apply changes nothing', async () => {
  await rename('ann', 'Ann New');
  await expect(run('plan', '--target', 'main', '--out', file)).resolves.toMatchObject({ code: 2 });
  const lock = (await place.key(':marks:main')).replace(/marks:main$/, 'run:main');
  await place.redis.set(lock, 'another');
  const end = run('apply', file, '--yes');
  await eventually('apply has compared', async () => {
    const { json } = await run('acts', '--json');
    return JSON.stringify(json).includes('apply');
  });
  await place.idp.send('DELETE', `/Users/${ids.ann}`);
  await place.redis.del(lock);
  await expect(end).resolves.toMatchObject({
    code: 1,
    text: expect.stringContaining('nothing was written here') as string,
  });
  await expect(isActive(place.platform, 'ann')).resolves.toBe(true);
}, 60_000);

test('apply and reconcile --target write at one of two targets only', async () => {
  await rename('ann', 'Ann New');
  await expect(run('plan', '--target', 'second', '--out', file)).resolves.toMatchObject({ code: 2 });
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({ code: 0 });
  await expect(displayName(second, 'ann')).resolves.toBe('Ann New');
  await expect(displayName(place.platform, 'ann')).resolves.not.toBe('Ann New');
  await rename('bob', 'Bob New');
  await expect(run('reconcile', '--target', 'main')).resolves.toMatchObject({ code: 0 });
  await expect(displayName(place.platform, 'ann')).resolves.toBe('Ann New');
  await expect(displayName(place.platform, 'bob')).resolves.toBe('Bob New');
  await expect(displayName(second, 'bob')).resolves.not.toBe('Bob New');
}, 60_000);

test('a member is removed by hand at one target and another member at the source → apply of a new plan writes both changes at both targets', async () => {
  for (const [sandbox, platform] of [
    [place.sandbox, place.platform],
    [other, second],
  ] as const) {
    const path = `members[value eq "${(await platform.user(mail('cid')))?.scimId}"]`;
    await byHand(sandbox, 'PATCH', await groupPath(platform, 'team'), scimPatch({ op: 'remove', path }));
  }
  await place.idp.patch(`/Groups/${ids.team}`, { op: 'remove', path: `members[value eq "${ids.dan}"]` });
  await expect(run('plan', '--out', file)).resolves.toMatchObject({ code: 2 });
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({ code: 0 });
  const team = ['ann', 'bob', 'cid'].map(mail);
  await expect(membersOf(place.platform, 'team')).resolves.toEqual(team);
  await expect(membersOf(second, 'team')).resolves.toEqual(team);
  await expect(run('plan')).resolves.toMatchObject({ code: 0 });
}, 60_000);

test('the guard holds the removal of an unmanaged member, who is then pushed and adopted → the account stays a member until an operator approves the removal', async () => {
  await place.change(({ targets }) => {
    const second = (targets as unknown as { second: object }).second;
    Object.assign(second, { guard: { ...LIMITS, removeMembers: { count: 0, percent: 0 } } });
  });
  await byHand(other, 'POST', '/api/scim/v2/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: mail('eve'),
    active: true,
  });
  const value = (await second.user(mail('eve')))?.scimId;
  const added = scimPatch({ op: 'add', path: 'members', value: [{ value }] });
  await byHand(other, 'PATCH', await groupPath(second, 'team'), added);
  await expect(run('reconcile', '--yes', '--full', '--target', 'second')).resolves.toMatchObject({ code: 2 });
  await place.idp.createUser(mail('eve'));
  await place.idle();
  await expect(membersOf(second, 'team')).resolves.toContain(mail('eve'));
  const { json } = await run('approvals', 'list', '--json');
  await run('approvals', 'approve', json[0].id, '--yes');
  await place.idle();
  await expect(membersOf(second, 'team')).resolves.toEqual(['ann', 'bob', 'cid', 'dan'].map(mail));
}, 60_000);

test('an account is deleted by hand and then its person at the source → plan lists no removal from a group, and apply and reconcile exit 0', async () => {
  for (const [sandbox, platform] of [
    [place.sandbox, place.platform],
    [other, second],
  ] as const) {
    const path = `/api/scim/v2/Users/${(await platform.user(mail('dan')))?.scimId}`;
    await byHand(sandbox, 'DELETE', path);
  }
  await place.idp.send('DELETE', `/Users/${ids.dan}`);
  await expect(run('plan', '--out', file)).resolves.toMatchObject({
    code: 0,
    text: expect.not.stringContaining('removeMember') as string,
  });
  await expect(run('apply', file)).resolves.toMatchObject({ code: 0 });
  await expect(run('reconcile', '--yes')).resolves.toMatchObject({ code: 0 });
}, 60_000);

test('a group that was deleted by hand is renamed and loses a member at the source → plan lists only its creation, and apply creates it under the new name', async () => {
  await byHand(place.sandbox, 'DELETE', await groupPath(place.platform, 'team'));
  await place.idp.patch(
    `/Groups/${ids.team}`,
    { op: 'replace', path: 'displayName', value: 'squad' },
    { op: 'remove', path: `members[value eq "${ids.dan}"]` },
  );
  const { text } = await run('plan', '--target', 'main', '--out', file);
  expect(text).toContain('create group squad');
  expect(text).not.toContain('removeMember');
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({ code: 0 });
  await expect(membersOf(place.platform, 'squad')).resolves.toEqual(['ann', 'bob', 'cid'].map(mail));
  await expect(run('plan', '--target', 'main')).resolves.toMatchObject({ code: 0 });
}, 60_000);

const leavesTeam = (): Promise<unknown> =>
  place.idp.patch(`/Groups/${ids.team}`, { op: 'remove', path: `members[value eq "${ids.dan}"]` });
const isDeactivated = (): Promise<unknown> =>
  place.idp.patch(`/Users/${ids.dan}`, { op: 'replace', path: 'active', value: false });

test('a leaver was deactivated by hand and by the source → apply writes the planned removal from the group', async () => {
  const path = `/api/scim/v2/Users/${(await place.platform.user(mail('dan')))?.scimId}`;
  const closed = scimPatch({ op: 'replace', path: 'active', value: false });
  await byHand(place.sandbox, 'PATCH', path, closed);
  await isDeactivated();
  await leavesTeam();
  const plan = await run('plan', '--target', 'main', '--out', file);
  expect(plan).toMatchObject({ code: 2, text: expect.stringContaining('removeMember') as string });
  const applied = await run('apply', file, '--yes', '--deadline', '20s');
  expect(applied).toMatchObject({ code: 0 });
  await expect(membersOf(place.platform, 'team')).resolves.toEqual(['ann', 'bob', 'cid'].map(mail));
}, 60_000);

test('a member to be removed is deactivated after the plan → apply exits 3 and changes nothing', async () => {
  await leavesTeam();
  await expect(run('plan', '--target', 'main', '--out', file)).resolves.toMatchObject({ code: 2 });
  await isDeactivated();
  await expect(run('apply', file, '--yes', '--deadline', '20s')).resolves.toMatchObject({ code: 3 });
  await expect(isActive(place.platform, 'dan')).resolves.toBe(true);
  await expect(membersOf(place.platform, 'team')).resolves.toContain(mail('dan'));
}, 60_000);

test('a group with unmanaged members is adopted under groups.members: authoritative → plan and sync --dry-run list their removals, which a later sync or reconcile writes', async () => {
  for (const name of ['fay', 'gus'])
    await byHand(other, 'POST', '/api/scim/v2/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: mail(name),
      active: true,
    });
  const members = [];
  for (const name of ['ann', 'bob', 'fay', 'gus'])
    members.push({ value: (await second.user(mail(name)))?.scimId });
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
  await byHand(other, 'POST', '/api/scim/v2/Groups', { schemas, displayName: 'crew', members });
  ids.gus = await place.idp.createUser(mail('gus'));
  await place.idp.createGroup('crew', [ids.ann ?? '', ids.gus]);
  const { text } = await run('plan', '--target', 'second', '--out', file);
  expect(text).toMatch(/adopt group crew.* id: nothing → /s);
  expect(text).not.toContain('"crew" → "crew"');
  const [plan] = parseSaved(readFileSync(file, 'utf8'));
  const removed = plan?.entries.filter(({ action }) => action === 'removeMember');
  expect(removed?.map(({ member, effect }) => `${effect} ${member?.name}`).sort()).toEqual([
    `report ${mail('bob')}`,
    `report ${mail('fay')}`,
  ]);
  const later = `only a later reconcile that repairs, or scim-bridge sync ${removed?.[0]?.ref} after the adoption`;
  for (const entry of removed ?? []) expect(entry.reason).toContain(later);
  const { text: alone } = await run('sync', 'crew', '--target', 'second', '--dry-run');
  expect([...alone.matchAll(/removeMember (\S+) in crew/g)].map(([, name]) => name).toSorted()).toEqual(
    ['bob', 'fay'].map(mail),
  );
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({ code: 0 });
  await expect(membersOf(second, 'crew')).resolves.toEqual(['ann', 'bob', 'fay', 'gus'].map(mail));
  await run('sync', 'crew', '--target', 'second');
  await expect(membersOf(second, 'crew')).resolves.toEqual(['ann', 'gus'].map(mail));
}, 60_000);
