// Tests a connection that is taken out of the settings and comes back, while another one takes its accounts and groups over.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { untilIdle } from '../support/idle.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import type { TestSettings } from '../support/settings.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HR_TOKEN = `${TOKEN}-hr`;
const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

const DEFAULT = { tokens: [{ name: 'primary', secret: TOKEN }], targets: ['main'] };
// Under this profile an externalId identifies a person.
const HR = { profile: 'okta', tokens: [{ name: 'hr', secret: HR_TOKEN }], targets: ['main'] };

let place: Place;
let ids: Record<string, string>;
beforeEach(async () => {
  place = await openPlace({ rest: { connections: { default: DEFAULT } } });
  ids = {};
  for (const name of [ANN, BOB]) ids[name] = await place.idp.createUser(name, { externalId: name });
  ids.sales = await place.idp.createGroup('sales', Object.values(ids));
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const hr = (): Idp => createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, HR_TOKEN);
const takeOut = (settings: TestSettings): void => {
  Object.assign(settings, { connections: { hr: HR } });
};
const putBack = (settings: TestSettings): void => {
  Object.assign(settings, { connections: { hr: HR, default: DEFAULT } });
};
const outputOf = async (...args: string[]) => (await place.commands.run(...args)).text.replace(/\s+/g, ' ');
const isActive = async (name: string) => (await place.platform.user(name))?.active;

/** The marks of a connection that is out of the settings stay until it is back. */
const hrIdle = () =>
  untilIdle({ url: place.settings.redis.url, prefix: `${place.settings.redis.prefix}:{hr}` });

/** Returns the dead letters as `connection ref reason`. */
async function deadLetters(): Promise<string[]> {
  const { json } = await place.commands.run('dead-letters', 'list', '--json');
  const found = json as { connection: string; ref: string; reason: string }[];
  return found.map(({ connection, ref, reason }) => `${connection} ${ref} ${reason}`).sort();
}

/** Links a person of the connection hr to the account of the same person of the other connection, as a restore may do. */
async function linkTwice() {
  const ann = await hr().createUser(ANN, { externalId: ANN });
  await place.idle();
  const { redis, settings } = place;
  const keyOf = (connection: string, family: string) =>
    `${settings.redis.prefix}:{${connection}}:${family}:main`;
  const text = (await redis.hget(keyOf('default', 'links'), `User:${ids[ANN]}`)) ?? '';
  const { id } = JSON.parse(text) as { id: string };
  await redis.hset(keyOf('hr', 'links'), `User:${ann}`, text);
  await redis.hset(keyOf('hr', 'linked'), `User:${id}`, `User:${ann}`);
  return { ann, hrLinks: keyOf('hr', 'links') };
}

test('a connection returns to the settings after another connection took over its account and group → both stay as the other connection wrote them', async () => {
  await place.change(takeOut);
  const ann = await hr().createUser(ANN, { externalId: ANN });
  const group = await hr().createGroup('sales', [ann]);
  await hrIdle();
  await hr().patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await hrIdle();
  expect([await isActive(ANN), await isActive(BOB)]).toEqual([false, true]);
  const shown = await outputOf('links', 'show', ANN);

  await place.change(putBack);
  await place.idle();
  expect([await isActive(ANN), await isActive(BOB)]).toEqual([false, true]);
  const taken = [`User:${ids[ANN]}`, `Group:${ids.sales}`].map((ref) => `default ${ref} TakenByConnection`);
  expect(await deadLetters()).toEqual(taken.sort());
  expect(await outputOf('explain', `User:${ids[ANN]}`, '--all')).toContain(`belongs to ${ANN} (User:${ann})`);
  await place.commands.run('reconcile', '--yes');
  await place.idp.send('DELETE', `/Groups/${ids.sales}`);
  await place.idle();
  expect([await isActive(ANN), await isActive(BOB)]).toEqual([false, true]);
  expect(await place.platform.group('sales')).toBeDefined();
  expect(await outputOf('links', 'show', `Group:${group}`)).toContain('hr → main');
  // The account was of the connection hr alone, which had closed it.
  expect(shown).not.toContain('may be active');
}, 60_000);

test('a connection leaves the settings → explain, verify-access and links forget of one of its users exit 4 and say that the account may be active', async () => {
  await place.change(takeOut);
  for (const command of [
    ['explain', ANN],
    ['verify-access', ANN],
    ['links', 'forget', ANN],
    ['explain', 'sales'],
  ]) {
    const { code, text } = await place.commands.run(...command);
    expect(code).toBe(4);
    const said = text.replace(/\s+/g, ' ');
    expect(said).toContain('of the connection default at main, where the ');
    expect(said).toMatch(/ may be active|where the group \S+ may exist/);
    expect(said).not.toContain('was never pushed');
  }
  const { code, text } = await place.commands.run('explain', 'cid@acme.example');
  expect([code, text]).toEqual([4, expect.stringContaining('was never pushed')]);
}, 60_000);

test('a backup contains the data of a connection that left the settings → after a restore into an empty Redis, status reports the accounts of this connection', async () => {
  const early = join(place.commands.folder, 'early');
  expect((await place.commands.run('backup', early)).code).toBe(0);
  await place.change(takeOut);
  const file = join(place.commands.folder, 'backup');
  expect((await place.commands.run('backup', file)).text).toContain('2 users, 1 group, 3 links');
  await place.stopApps();
  await place.redis.del(...(await place.redis.keys(`${place.settings.redis.prefix}:*`)));
  const refused = await place.commands.run('restore', early);
  expect([refused.code, refused.text.replace(/\s+/g, ' ')]).toEqual([
    1,
    expect.stringContaining('Restore with the settings of that time, which feed main from default'),
  ]);
  const restored = await place.commands.run('restore', file);
  expect([restored.code, restored.text]).toEqual([0, expect.stringContaining('2 users, 1 group, 3 links')]);
  await place.start();
  expect(await outputOf('status')).toContain(
    'target main of connection default is no longer configured; 2 accounts and 1 group that the bridge wrote are still there',
  );

  await place.change(putBack);
  await place.commands.run('release');
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ids[BOB]}`);
  await place.idle();
  expect([await isActive(ANN), await isActive(BOB)]).toEqual([true, false]);
}, 60_000);

test('a person is a dead letter because another connection has the account → once that connection leaves the settings, the advised retry takes the account over', async () => {
  await place.change(putBack);
  const ann = await hr().createUser(ANN, { externalId: ANN });
  await place.idle();
  expect(await outputOf('dead-letters', 'list')).toContain(`order scim-bridge links forget User:${ids[ANN]}`);
  await place.change(takeOut);
  await hrIdle();
  for (const command of [['dead-letters', 'list'], ['plan'], ['explain', `User:${ann}`]]) {
    const said = await outputOf(...command);
    expect(said).toContain(`belongs to ${ANN} (User:${ids[ANN]}) of connection default`);
    expect(said).not.toContain('links forget');
    expect(said).toMatch(/scim-bridge (dead-letters retry, or sync,|sync \S+) tries it again/);
  }
  await place.commands.run('dead-letters', 'retry', `User:${ann}`);
  await hr().patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await hrIdle();
  expect([await deadLetters(), await isActive(ANN)]).toEqual([[], false]);
}, 60_000);

test('a person is a dead letter because the account has another externalId → once the owning connection returns, no command advises to delete the account, and retry reports TakenByConnection', async () => {
  await place.change(takeOut);
  const ann = await hr().createUser(ANN, { externalId: 'hr-ann' });
  await hrIdle();
  expect(await outputOf('dead-letters', 'list')).toContain('correct it or delete the account');
  await place.change(putBack);
  await place.idle();
  for (const command of [
    ['dead-letters', 'list'],
    ['dead-letters', 'show', `User:${ann}`],
    ['plan'],
    ['explain', `User:${ann}`],
  ]) {
    const said = await outputOf(...command);
    expect(said).toContain('carries another externalId');
    expect(said).not.toMatch(/delete the (account|other)|delete one of/);
    expect(said).toMatch(/scim-bridge (dead-letters retry, or sync,|sync \S+) tries it again/);
  }
  await place.commands.run('dead-letters', 'retry', `User:${ann}`);
  await place.idle();
  expect(await deadLetters()).toEqual([`hr User:${ann} TakenByConnection`]);
}, 60_000);

test('an account that two connections are linked to is written by neither until an operator forgets one of the links', async () => {
  await place.change(putBack);
  const { ann } = await linkTwice();
  await hr().patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idp.patch(`/Users/${ids[ANN]}`, { op: 'replace', path: 'title', value: 'Lead' });
  await place.idle();
  expect(await isActive(ANN)).toBe(true);
  const both = [`default User:${ids[ANN]}`, `hr User:${ann}`].map((each) => `${each} TakenByConnection`);
  expect(await deadLetters()).toEqual(both);
  const advice = await outputOf('explain', `User:${ann}`);
  expect(advice).toContain('Decide which of the two is to have it, order what the message says');
  expect(advice).not.toContain('delete the person at the identity provider');
  const { code } = await place.commands.run('links', 'forget', `User:${ids[ANN]}`);
  expect(code).toBe(0);
  await place.commands.run('dead-letters', 'retry', '--all');
  await place.idle();
  expect(await isActive(ANN)).toBe(false);
  expect(await deadLetters()).toEqual(both.slice(0, 1));
}, 60_000);

test('an account that two connections are linked to stays active when one deletes the person, and is closed when the other deactivates the person', async () => {
  await place.change(putBack);
  const { ann } = await linkTwice();
  await hr().send('DELETE', `/Users/${ann}`);
  await place.idle();
  expect(await isActive(ANN)).toBe(true);
  await place.idp.patch(`/Users/${ids[ANN]}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  expect(await isActive(ANN)).toBe(false);
}, 60_000);

test('links import --dry-run refuses a group at the platform that another group of the connection is linked to', async () => {
  const links = `${place.settings.redis.prefix}:{default}:links:main`;
  const { id } = JSON.parse((await place.redis.hget(links, `Group:${ids.sales}`)) ?? '') as { id: string };
  await byHand(place, 'PATCH', `/Groups/${id}`, { op: 'replace', path: 'displayName', value: 'two' });
  await place.stopApps();
  await place.start('api');
  const second = await place.idp.createGroup('two', []);
  const file = join(place.commands.folder, 'links.jsonl');
  const row = {
    connection: 'default',
    target: 'main',
    kind: 'Group',
    ref: `Group:${second}`,
    platformId: id,
  };
  writeFileSync(file, `${JSON.stringify(row)}\n`);
  const { json } = await place.commands.run('links', 'import', file, '--dry-run', '--json');
  expect(json.counts).toMatchObject({ taken: 1 });
}, 60_000);

test('a running sync makes links import answer busy → the link of the connection that left the settings is kept', async () => {
  const { redis, settings, commands } = place;
  const former = `${settings.redis.prefix}:{default}:links:main`;
  const { id } = JSON.parse((await redis.hget(former, `User:${ids[ANN]}`)) ?? '') as { id: string };
  await place.change(takeOut);
  await place.stopApps();
  await place.start('api');
  const ann = await hr().createUser(ANN, { externalId: ANN });
  const file = join(commands.folder, 'links.jsonl');
  writeFileSync(
    file,
    JSON.stringify({ connection: 'hr', target: 'main', kind: 'User', name: ANN, platformId: id }),
  );
  const countsOfImport = async () => (await commands.run('links', 'import', file, '--json')).json.counts;
  // The lease stands for another process that syncs the person.
  const lease = `${settings.redis.prefix}:{hr}:lease:main:User:${ann}`;
  await redis.set(lease, '1');
  expect(await countsOfImport()).toEqual({ busy: 1 });
  expect(await redis.hget(former, `User:${ids[ANN]}`)).toContain(id);
  await redis.del(lease);
  expect(await countsOfImport()).toEqual({ imported: 1 });
  expect(await redis.hexists(former, `User:${ids[ANN]}`)).toBe(0);
  expect(await outputOf('links', 'show', `User:${ann}`)).toContain(id);
}, 60_000);

test('links import is interrupted after the first of its two writes → the same import again removes the link of the connection that left the settings', async () => {
  const { redis, settings, commands } = place;
  const keys = ['links', 'linked'].map((family) => `${settings.redis.prefix}:{default}:${family}:main`);
  const [links = {}, linked = {}] = await Promise.all(keys.map((key) => redis.hgetall(key)));
  const { id } = JSON.parse(links[`User:${ids[ANN]}`] ?? '') as { id: string };
  await place.change(takeOut);
  await place.stopApps();
  await place.start('api');
  const ann = await hr().createUser(ANN, { externalId: ANN });
  const file = join(commands.folder, 'links.jsonl');
  const line = { connection: 'hr', target: 'main', kind: 'User', name: ANN, platformId: id };
  writeFileSync(file, JSON.stringify(line));
  const countsOfImport = async (...more: string[]) =>
    (await commands.run('links', 'import', file, '--json', ...more)).json.counts;
  const isFormerLinked = async () => (await redis.hexists(keys[0] ?? '', `User:${ids[ANN]}`)) === 1;
  expect(await countsOfImport()).toEqual({ imported: 1 });
  // The former links are put back, as if a kill had come right after the new link was stored.
  await Promise.all([links, linked].map((stored, index) => redis.hset(keys[index] ?? '', stored)));
  expect([await countsOfImport('--dry-run'), await isFormerLinked()]).toEqual([{ unchanged: 1 }, true]);
  // The lease stands for a process with the former settings that syncs the person.
  const lease = `${settings.redis.prefix}:{default}:lease:main:User:${ids[ANN]}`;
  await redis.set(lease, '1');
  expect([await countsOfImport(), await isFormerLinked()]).toEqual([{ busy: 1 }, true]);
  await redis.del(lease);
  expect([await countsOfImport(), await isFormerLinked()]).toEqual([{ unchanged: 1 }, false]);
  expect(await outputOf('links', 'show', `User:${ann}`)).toContain(id);
}, 60_000);

test('another connection has a damaged link to the account of a person → the person becomes a dead letter with the reason TakenByConnection', async () => {
  await place.change(putBack);
  const { ann, hrLinks } = await linkTwice();
  await place.redis.hset(hrLinks, `User:${ann}`, '{"id":');
  await place.idp.patch(`/Users/${ids[ANN]}`, { op: 'replace', path: 'title', value: 'Lead' });
  const own = `${place.settings.redis.prefix}:{default}:links:main`;
  await eventually(
    'refused',
    async () => (await place.redis.hget(own, `User:${ids[ANN]}`))?.includes('TakenByConnection'),
    8000,
  );
}, 60_000);

test('during a rolling update that adds a connection, a process with the former settings does not take over an account of this connection', async () => {
  const file = join(place.commands.folder, 'bridge.json');
  const edited = JSON.parse(readFileSync(file, 'utf8')) as TestSettings;
  putBack(edited);
  writeFileSync(file, JSON.stringify(edited));
  const added = await place.start();
  const eve = await createIdp(`http://127.0.0.1:${added.port}/connections/hr/scim/v2`, HR_TOKEN).createUser(
    'eve@acme.example',
    { externalId: 'eve' },
  );
  await eventually('linked', async () => (await place.platform.user('eve@acme.example'))?.active, 60_000);
  // From now on the former process is the only worker.
  await added.stop();
  await place.start('api');
  await place.redis.del(...(await place.redis.keys(`${place.settings.redis.prefix}:*:claim:*`)));
  const second = await place.idp.createUser('eve@acme.example', { externalId: 'eve' });
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(await outputOf('links', 'show', `User:${eve}`)).toContain('hr → main');
  await place.change(() => undefined);
  const taken = [`default User:${second} TakenByConnection`];
  await eventually('refused', async () => (await deadLetters()).join() === taken.join());
}, 120_000);
