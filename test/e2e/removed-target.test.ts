// Tests a target that is taken out of the settings: commands say what stays there, and people who leave meanwhile lose their
// access when the target comes back.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { send } from '../support/send.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { eventually } from '../support/eventually.ts';
import type { TestSettings } from '../support/settings.ts';
import { openPlace, type Place } from '../support/situation.ts';
import type { LinkRow } from '../../src/ops/links/link-rows.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const CID = 'cid@acme.example';
const DAN = 'dan@acme.example';

let place: Place;
let second: Sandbox;
let analytics: PlatformView;
let ids: Record<string, string>;
let limit: number;

/** Opens a bridge with the targets main and analytics. @param most number of removals that the guard of analytics allows */
async function open(rest: object = {}, most = 9): Promise<void> {
  limit = most;
  second = await startSandbox();
  analytics = createPlatformView(second.ready.controlUrl);
  place = await openPlace({ rest, roles: [] });
  await place.change(addAnalytics);
  ids = {};
  for (const name of [ANN, BOB, CID, DAN]) ids[name] = await place.idp.createUser(name);
  ids.sales = await place.idp.createGroup('sales', Object.values(ids));
  ids.north = await place.idp.createGroup('north', [ids[DAN] ?? '']);
  await place.idle();
  expect(await atAnalytics()).toEqual([true, true, true, true, 4, 1]);
}
afterEach(async () => {
  await place.stop();
  await second.stop();
});

function feed(connections: object, targets: string[]): void {
  for (const each of Object.values(connections)) Object.assign(each as object, { targets });
}

function addAnalytics({ targets, connections }: TestSettings): void {
  feed(connections, ['main', 'analytics']);
  const guard = Object.fromEntries(
    ['deactivate', 'delete', 'removeMembers'].map((kind) => [kind, { count: limit, percent: 100 }]),
  );
  const { platformUrl, fixtures } = second.ready;
  const own = { url: platformUrl, token: fixtures.apiKeys.admin };
  Object.assign(targets, { analytics: { ...targets.main, ...own, guard } });
}
const removeAnalytics = ({ targets, connections }: TestSettings): void => {
  feed(connections, ['main']);
  delete (targets as Partial<Record<string, unknown>>).analytics;
};

/** Takes the connection default out of the settings, and puts hr with the same targets there. */
const renameConnection = ({ connections }: TestSettings): void => {
  const all = connections as Record<string, object>;
  all.hr = { ...all.default };
  delete all.default;
};

/** Whether each person is active at analytics, and how many members the groups have; undefined: no such group. */
async function atAnalytics(): Promise<unknown[]> {
  const { users, groups } = await analytics.state();
  const active = [ANN, BOB, CID, DAN].map((name) => users.find(({ userName }) => userName === name)?.active);
  const size = (name: string) => groups.find(({ displayName }) => displayName === name)?.members.length;
  return [...active, size('sales'), size('north')];
}

async function deleteBob(): Promise<void> {
  await place.idp.send('DELETE', `/Users/${ids[BOB]}`);
  await place.idle();
}

/** Ann becomes inactive, Bob is deleted, Cid leaves the group sales, and the group north is deleted. */
async function leave(): Promise<void> {
  await place.idp.patch(`/Users/${ids[ANN]}`, { op: 'replace', path: 'active', value: false });
  await place.idp.send('DELETE', `/Users/${ids[BOB]}`);
  await place.idp.patch(`/Groups/${ids.sales}`, { op: 'remove', path: `members[value eq "${ids[CID]}"]` });
  await place.idp.send('DELETE', `/Groups/${ids.north}`);
  await place.idle();
}

/** Puts the target back, and waits until analytics is as expected. */
async function putBack(expected: unknown[]): Promise<void> {
  await place.change(addAnalytics);
  await eventually('the returned target is compared', async () => {
    await place.idle();
    expect(await atAnalytics()).toEqual(expected);
    return true;
  });
}

const FOUND =
  'target analytics of connection default is no longer configured; 4 accounts and 2 groups that the bridge wrote are still there';
const outputOf = async (...args: string[]) => (await place.commands.run(...args)).text.replace(/\s+/g, ' ');
/** Returns which of status (with exit code 2), doctor and /health contain these words. */
async function commandsThatReport(words = FOUND): Promise<string[]> {
  const status = await place.commands.run('status');
  const { text: health } = await callAsAdmin('GET', '/health');
  return [
    ...(status.code === 2 && status.text.replace(/\s+/g, ' ').includes(words) ? ['status'] : []),
    ...((await outputOf('doctor')).includes(words) ? ['doctor'] : []),
    ...(health.includes(words) ? ['health'] : []),
  ];
}
async function approveHeld(): Promise<void> {
  const [id = ''] = /default\.analytics\.\d+-\d+/.exec(await outputOf('approvals', 'list')) ?? [];
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
}
const ALL = ['status', 'doctor', 'health'];
const keepAt = (target: string) =>
  `links keep --connection default --target ${target} --yes --by ines`.split(' ');
const callAsAdmin = (method: 'GET' | 'POST', path: string, body?: object) =>
  send(`http://127.0.0.1:${place.port}`, method, path, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body ? { body } : {}),
  });
const callLinks = (method: 'GET' | 'POST', path: string, body?: object) =>
  callAsAdmin(method, `/admin/v1/links${path}`, body);

test('people leave while a target is out of the settings → they lose their access when the target is back, without a schedule', async () => {
  await open();
  await place.commands.run('reconcile', '--yes');
  await place.change(removeAnalytics);
  await leave();
  expect(await atAnalytics()).toEqual([true, true, true, true, 4, 1]);
  await putBack([false, false, true, true, 2, undefined]);
  await eventually('the run has ended', async () => (await place.commands.run('status')).code === 0);
}, 60_000);

test('people are deleted while a target is out of the settings → the guard holds their deactivations when the target is back', async () => {
  await open({}, 3);
  await place.commands.run('reconcile', '--yes');
  await place.change(removeAnalytics);
  for (const name of [ANN, BOB, CID, DAN]) await place.idp.send('DELETE', `/Users/${ids[name]}`);
  for (const name of ['sales', 'north']) await place.idp.send('DELETE', `/Groups/${ids[name]}`);
  await place.idle();
  await place.change(addAnalytics);
  await eventually('held', async () => (await outputOf('approvals', 'list')).includes('default.analytics'));
  await place.idle();
  expect((await atAnalytics()).slice(0, 4)).toContain(true);
  await approveHeld();
  expect((await atAnalytics()).slice(0, 4)).toEqual([false, false, false, false]);
}, 60_000);

test('status, doctor and /health report the accounts that stay at a removed target, until an operator confirms with links keep', async () => {
  await open();
  expect(await commandsThatReport('no longer configured')).toEqual([]);
  await place.change(removeAnalytics);
  expect(await commandsThatReport()).toEqual(ALL);
  expect((await place.commands.run(...keepAt('main'))).code).toBe(1);
  const keep = keepAt('analytics');
  expect(await outputOf(...keep)).toContain('Kept: 4 accounts and 2 groups of default at analytics');
  expect(await commandsThatReport('no longer configured')).toEqual([]);
  expect((await place.commands.run('status')).code).toBe(0);
  expect(await outputOf(...keep)).toContain('Kept already: 4 accounts and 2 groups of default at analytics');
  expect((await outputOf('acts', '--action', 'keepLinks')).split('keepLinks')).toHaveLength(2);
  await place.change(() => undefined);
  expect(await commandsThatReport('no longer configured')).toEqual([]);

  await leave();
  await putBack([false, false, true, true, 2, undefined]);
  await place.change(removeAnalytics);
  const fewer = FOUND.replace('4 accounts and 2 groups', '2 accounts and 1 group');
  expect(await commandsThatReport(fewer)).toEqual(ALL);
}, 60_000);

test('POST /links/keep of a removed target ends its report in status, doctor and /health, and answers 404 while the settings have the target', async () => {
  await open();
  const keep = (body: object) => callLinks('POST', '/keep', body);
  const analyticsOfDefault = { connection: 'default', target: 'analytics' };
  expect((await keep(analyticsOfDefault)).status).toBe(404);
  await place.change(removeAnalytics);
  expect(await commandsThatReport()).toEqual(ALL);
  expect((await keep({ ...analyticsOfDefault, target: 'unknown' })).status).toBe(404);
  expect(await commandsThatReport()).toEqual(ALL);
  const kept = { status: 200, body: { ...analyticsOfDefault, accounts: 4, groups: 2 } };
  expect(await keep({ ...analyticsOfDefault, by: 'ines', note: 'archived' })).toMatchObject(kept);
  expect(await commandsThatReport('no longer configured')).toEqual([]);
  expect(await outputOf('acts', '--action', 'keepLinks')).toMatch(/"archived" by ines/);
}, 60_000);

/** Returns the rows of links list as `target name removed active`, without those of main. */
const listed = async (...flags: string[]) => {
  const { code, text } = await place.commands.run('links', 'list', '--json', ...flags);
  expect([code, text]).toEqual([0, expect.any(String)]);
  return toLines(JSON.parse(text) as LinkRow[]);
};
const toLines = (rows: LinkRow[]) =>
  rows
    .filter(({ target }) => target !== 'main')
    .map(({ target, name, removed, active }) => `${target} ${name} ${removed} ${active}`)
    .sort();
const PEOPLE = [ANN, BOB, CID, DAN].map((name) => `analytics ${name} true true`);
const PEOPLE_AT_PRESENT = PEOPLE.map((row) => row.replace('true', 'false'));

test('a person leaves after the target was taken out of the settings → links list, show and export name the account', async () => {
  await open();
  expect(await listed('--kind', 'User', '--target', 'analytics')).toEqual(PEOPLE_AT_PRESENT);
  await place.change(removeAnalytics);
  await deleteBob();
  expect((await atAnalytics())[1]).toBe(true);

  const staying = [...PEOPLE, 'analytics north true null', 'analytics sales true null'];
  expect(await listed()).toEqual(staying);
  expect(await listed('--target', 'analytics')).toEqual(staying);
  expect(await listed('--target', 'analytics', '--connection', 'default', '--kind', 'User')).toEqual(PEOPLE);
  expect(await listed('--target', 'main')).toEqual([]);
  const list = 'scim-bridge links list --connection default --target analytics';
  expect(await outputOf('status')).toContain(list);
  const ofBob = `${ids[BOB]} ${BOB} default → analytics \\S+ created target removed from the settings account may be active`;
  for (const words of [['list'], ['show', BOB]])
    expect(await outputOf('links', ...words)).toMatch(new RegExp(ofBob));
  const exported = await place.commands.run('links', 'export', '--target', 'analytics');
  const rows = JSON.parse(`[${exported.text.trim().replaceAll('\n', ',')}]`) as LinkRow[];
  expect(toLines(rows)).toEqual(staying);
  const unknown = await place.commands.run('links', 'list', '--target', 'unknown');
  expect([unknown.code, unknown.text]).toEqual([1, expect.stringContaining('There is no target unknown')]);

  // No order about a link acts on a removed target.
  const refused = await place.commands.run('links', 'forget', CID, '--target', 'analytics');
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining('There is no target analytics')]);
  await place.commands.run('links', 'forget', CID, '--leave-account');
  expect(await listed()).toEqual(staying);
  await putBack([true, false, true, true, 3, 1]);
  const bobClosed = PEOPLE_AT_PRESENT.map((row) => (row.includes(BOB) ? row.replace('true', 'false') : row));
  expect(await listed('--kind', 'User')).toEqual(bobClosed);
}, 60_000);

test('the admin API lists links of removed targets too', async () => {
  await open();
  expect((await callLinks('GET', '?target=unknown')).status).toBe(404);
  await place.change(removeAnalytics);
  await deleteBob();
  const { status, body } = await callLinks('GET', '?target=analytics&kind=User');
  expect([status, toLines(body as LinkRow[])]).toEqual([200, PEOPLE]);
  const { text } = await callLinks('GET', '/export?target=analytics&kind=User');
  expect(text.trim().split('\n')).toHaveLength(4);
  expect(toLines((await callLinks('POST', '/show', { resource: BOB })).body as LinkRow[])).toEqual([
    PEOPLE[1],
  ]);
  expect((await callLinks('POST', '/show', { resource: 'unknown' })).status).toBe(404);
  expect((await callLinks('GET', '/export?target=unknown')).status).toBe(404);
  expect((await callLinks('POST', '/forget', { resource: CID, target: 'analytics' })).status).toBe(404);
}, 60_000);

test('links list names what stays for a removed connection and for a damaged link, and counts an unconfirmed deactivation as an open account', async () => {
  await open();
  await place.stopApps();
  const links = await place.key(':{default}:links:analytics');
  await place.redis.hset(links, `User:${ids[ANN]}`, '{"id":');
  const dan = `User:${ids[DAN]}`;
  const link = JSON.parse((await place.redis.hget(links, dan)) ?? '') as { c: object };
  const unsure = { ...link, c: { ...link.c, a: false }, unsure: ['active'] };
  await place.redis.hset(links, dan, JSON.stringify(unsure));
  await place.change(renameConnection);
  const rows = await listed('--connection', 'default', '--target', 'analytics', '--kind', 'User');
  expect(rows).toEqual([
    `analytics ${BOB} true true`,
    `analytics ${CID} true true`,
    `analytics ${DAN} true null`,
    'analytics null true null',
  ]);
  expect(await outputOf('links', 'show', `User:${ids[ANN]}`)).toMatch(
    /default → analytics account unknown target removed from the settings account may be active LinkDamaged/,
  );
  expect(await outputOf('links', 'show', DAN)).toMatch(/default → analytics \S+ .*account may be active/);
}, 60_000);

test('the stored list of known targets lacks a removed target → status, doctor and /health still report it', async () => {
  await open();
  await place.stopApps();
  await place.redis.del(await place.key(':{bridge.fleet}:knownTargets'));
  await place.change(removeAnalytics);
  // The service answers before it has read from the links which targets it had.
  await eventually('the links are read', async () => (await commandsThatReport()).includes('health'));
  expect(await commandsThatReport()).toEqual(ALL);
}, 60_000);

test('a link at a removed target is damaged → status, doctor and /health count its account, and the remaining target is compared at the start', async () => {
  await open();
  await place.stopApps();
  await place.redis.hset(await place.key(':{default}:links:analytics'), `User:${ids[ANN]}`, '{"id":');
  await place.redis.set(await place.key(':{default}:mapped:main'), 'former rules');
  await place.change(removeAnalytics);
  expect(await commandsThatReport()).toEqual(ALL);
  const mapped = await place.key(':{default}:mapped:main');
  await eventually('compared', async () => (await place.redis.get(mapped)) !== 'former rules');
}, 60_000);

test('a connection is removed from the settings → status, doctor and /health report its targets', async () => {
  await open();
  await place.change(renameConnection);
  expect(await commandsThatReport()).toEqual(ALL);
  expect(await outputOf('status')).toContain('target main of connection default is no longer configured');
  for (const target of ['main', 'analytics']) await place.commands.run(...keepAt(target));
  expect(await commandsThatReport('no longer configured')).toEqual([]);
}, 60_000);

test('a removed target whose scope excluded everybody is not reported', async () => {
  await open({}, 0);
  await place.change(({ targets }) => {
    Object.assign(targets, {
      analytics: { ...(targets as any).analytics, users: { scope: 'not (userName pr)' } },
    });
  });
  await eventually('held', async () => (await outputOf('approvals', 'list')).includes('4 to deactivate'));
  expect((await atAnalytics()).slice(0, 4)).toEqual([true, true, true, true]);
  await approveHeld();
  expect(await atAnalytics()).toEqual([false, false, false, false, 4, 1]);
  await place.change(removeAnalytics);
  expect(await commandsThatReport('no longer configured')).toEqual([]);
}, 60_000);

test('forget refuses a leaver with an account at a removed target unless --leave-account is given', async () => {
  await open();
  await place.change(removeAnalytics);
  await deleteBob();
  const refused = await place.commands.run('forget', BOB, '--yes');
  expect(refused.code).toBe(1);
  expect(refused.text).toMatch(/account \S+ at analytics may be active\. A target is no longer configured/);
  await place.change(addAnalytics);
  await eventually('closed', async () => (await atAnalytics())[1] === false);
  await place.idle();
  await place.change(removeAnalytics);
  expect((await place.commands.run('forget', BOB, '--yes')).code).toBe(0);
  const links = await place.redis.hgetall(await place.key(':{default}:links:analytics'));
  expect(JSON.stringify(links)).not.toContain(BOB);
}, 60_000);

test('a target is removed before a backup → after a restore into an empty Redis it is still reported', async () => {
  await open();
  await place.change(removeAnalytics);
  const file = join(place.commands.folder, 'backup');
  expect((await place.commands.run('backup', file)).code).toBe(0);
  await place.stopApps();
  await place.redis.del(...(await place.redis.keys(`${place.settings.redis.prefix}:*`)));
  await place.change(() => undefined);
  await place.stopApps();
  const { code, text } = await place.commands.run('restore', file, '--yes', '--replace');
  expect([code, text]).toEqual([0, expect.any(String)]);
  await place.start();
  await place.commands.run('release');
  expect(await commandsThatReport()).toEqual(ALL);
}, 60_000);

test('a removed target is back in the settings under onDrift: report → status exits 2 until a reconcile is ordered', async () => {
  await open({ reconcile: { schedule: null, onDrift: 'report' } });
  await place.commands.run('reconcile', '--yes');
  await place.change(removeAnalytics);
  await deleteBob();
  await place.change(addAnalytics);
  await eventually('reported', async () => (await outputOf('status')).includes('drifted'));
  const text = expect.stringContaining('or the target was not in them');
  expect(await place.commands.run('status')).toMatchObject({ code: 2, text });
  expect((await atAnalytics())[1]).toBe(true);
  await place.commands.run('reconcile', '--target', 'analytics', '--yes');
  await place.idle();
  expect((await atAnalytics())[1]).toBe(false);
  expect((await place.commands.run('status')).code).toBe(0);
}, 60_000);

test('explain says that a person and a group are linked at a removed target, and whether the account may be active', async () => {
  await open();
  await place.idp.patch(`/Users/${ids[ANN]}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  const explained = (name: string) => outputOf('explain', name);
  const before = 'The connection default no longer feeds the target analytics. ';
  expect(await explained(BOB)).not.toContain(before);
  await place.change(removeAnalytics);
  const told = (state: string, ref: string) =>
    `${before}${state}, and nothing is written to it: scim-bridge links show ${ref} names it.`;
  expect(await explained(BOB)).toContain(told('An account there may be active', `User:${ids[BOB]}`));
  expect(await explained(ANN)).toContain(told('An account there is closed', `User:${ids[ANN]}`));
  await place.redis.hset(await place.key(':{default}:links:analytics'), `User:${ids[CID]}`, '{"id":');
  expect(await explained(CID)).toContain(`${before}An account there may be active`);
  expect(await explained('sales')).toContain(told('A group is still there', `Group:${ids.sales}`));
}, 60_000);

test('the log and the acts of a target that a connection no longer feeds can be read', async () => {
  await open();
  await place.commands.run('hold', '--target', 'analytics', '--note', 'audit');
  await place.commands.run('release', '--target', 'analytics');
  await place.change(removeAnalytics);
  const where = ['--connection', 'default', '--target', 'analytics'];
  expect(await outputOf('log', ...where)).toContain(ANN);
  expect((await place.commands.run('log', '--resource', ANN, ...where)).text).toContain('activate');
  expect((await place.commands.run('log', '--verify', ...where)).text).toContain('none altered');
  expect(await outputOf('acts', ...where)).toContain('audit');
  expect((await place.commands.run('acts', '--target', 'typo')).text).toContain('There is no target typo.');
}, 90_000);
