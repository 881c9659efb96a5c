// Tests that new settings reach everybody although processes with the former settings still run, as during a rolling update.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import type { App } from '../../src/app.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess } from '../support/bridge-process.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { ADMIN_TOKEN, TOKEN } from '../support/build-bridge.ts';
import { createPlatformView } from '../support/platform-view.ts';
import { scrape } from '../support/scrape.ts';
import type { TestSettings } from '../support/settings.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['p0', 'p1', 'p2', 'p3', 'q0', 'q1'].map((name) => `${name}@acme.example`);
const WITHOUT_P = { scope: 'not (userName sw "p")' };
/** Longer than the reconcile that starts with a process takes here, and than the interval of beats. */
const START_MS = 6000;
const AGREED_MS = 25_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let place: Place;
let former: App;
let ids: string[];

async function open(target: object = {}): Promise<void> {
  place = await openPlace({
    target: { guard: { deactivate: { count: 100, percent: 100 } }, ...target },
    roles: [],
  });
  former = await place.start();
  ids = [];
  for (const name of NAMES) ids.push(await place.idp.createUser(name, { title: 'guest' }));
  await place.idle();
}
afterEach(() => place.stop());

const file = (): string => join(place.commands.folder, 'bridge.json');
/** Changes the settings file: processes that start from now on have these settings. */
function edit(change: (settings: TestSettings) => void): void {
  const settings = JSON.parse(readFileSync(file(), 'utf8')) as TestSettings;
  change(settings);
  writeFileSync(file(), JSON.stringify(settings));
}
const editMain = (change: object): void =>
  edit(({ targets: { main } }) => {
    Object.assign(main, change);
  });
const active = async (): Promise<string> => {
  const { users } = await place.platform.state();
  return NAMES.map((name) => users.find(({ userName }) => userName === name)?.active).join();
};
const P_CLOSED = 'false,false,false,false,true,true';
const ALL_OPEN = NAMES.map(() => true).join();
const row = async () => (await place.commands.run('status', '--json')).json[0];

/** Replaces the processes. The scheduler is first, so the former process is the only worker meanwhile. */
async function roll(): Promise<void> {
  await place.start('scheduler');
  await pause(START_MS);
  await place.idle();
  await place.start();
  await former.stop();
}

test('a scheduler has a narrower scope than a worker beside it → the accounts out of scope are still closed', async () => {
  await open();
  editMain({ users: WITHOUT_P });
  await roll();
  await eventually('closed', async () => (await active()) === P_CLOSED, AGREED_MS);
  await eventually('status is well', async () => (await place.commands.run('status')).code === 0, AGREED_MS);
}, 60_000);

test('a scheduler has a newer mapping than a worker beside it → the new mapping is still applied to all users', async () => {
  const mapping = (expression: string) => ({ attributes: { level: { type: 'string', expression } } });
  await open(mapping('"old"'));
  const levels = async () => {
    const { users } = await place.platform.state();
    return NAMES.map((name) => users.find(({ userName }) => userName === name)?.attributes.level).join();
  };
  const all = (level: string): string => NAMES.map(() => level).join();
  expect(await levels()).toBe(all('old'));
  editMain(mapping('"new"'));
  await roll();
  await eventually('written', async () => (await levels()) === all('new'), AGREED_MS);
}, 60_000);

test('a process whose settings lack a new target accepts a push → the push reaches the new target without an ordered reconcile', async () => {
  await open();
  const second = await startSandbox();
  try {
    edit(({ targets, connections }) => {
      for (const each of Object.values(connections))
        Object.assign(each as object, { targets: ['main', 'second'] });
      const { platformUrl, fixtures } = second.ready;
      Object.assign(targets, {
        second: { ...targets.main, url: platformUrl, token: fixtures.apiKeys.admin },
      });
    });
    await place.start();
    await pause(START_MS);
    await place.idp.createUser('late@acme.example');
    await place.idle();
    await former.stop();
    const view = createPlatformView(second.ready.controlUrl);
    await eventually('there', async () => (await view.user('late@acme.example'))?.active, AGREED_MS);
  } finally {
    await place.stopApps();
    await second.stop();
  }
}, 60_000);

test('a worker with other settings closed an account and has ended → the account is active again, although no scheduler had those settings', async () => {
  await open();
  expect(await place.redis.get(await place.key(':mapped:main'))).toMatch(/^[0-9a-f]{16}$/);
  const text = readFileSync(file(), 'utf8');
  await former.stop();
  editMain({ users: { scope: 'title ne "boss"' } });
  const other = [await place.start('api'), await place.start('worker')];
  const idp = createIdp(`http://127.0.0.1:${other[0]?.port}/scim/v2`, TOKEN);
  await idp.patch(`/Users/${ids[0]}`, { op: 'replace', path: 'title', value: 'boss' });
  await eventually('closed', async () => (await active()).startsWith('false,true'));
  await place.idle();
  for (const each of other) await each.stop();
  writeFileSync(file(), text);
  await place.start();
  await eventually('open again', async () => (await active()) === ALL_OPEN, AGREED_MS);
}, 60_000);

test('a worker with former settings and the scheduler are killed → new settings are applied to all users', async () => {
  await open();
  const killed = await startBridgeProcess(JSON.parse(readFileSync(file(), 'utf8')) as object, 'worker');
  await former.stop();
  editMain({ users: WITHOUT_P });
  const scheduler = await startBridgeProcess(JSON.parse(readFileSync(file(), 'utf8')) as object, 'scheduler');
  try {
    await pause(START_MS);
    await place.idle();
    await Promise.all([killed.stop(), scheduler.stop()]);
    await place.start();
    await eventually('closed', async () => (await active()) === P_CLOSED, 45_000);
  } finally {
    await Promise.all([killed.stop(), scheduler.stop()]);
  }
}, 120_000);

test('processes run with different settings → they do not reconcile in turns, and status, doctor, /health and bridge_fleet_findings report the difference', async () => {
  await open();
  editMain({ users: WITHOUT_P });
  const other = await place.start();
  await pause(START_MS);
  await place.idle();
  const before = await row();
  expect(before.hasNewRules).toBe(true);
  await place.platform.forgetRequests();
  await pause(2 * START_MS);
  expect(await place.platform.requests()).toEqual([]);
  expect((await row()).reconcile.last).toEqual(before.reconcile.last);
  const ordered = await place.commands.run('reconcile', '--yes');
  expect(ordered.text).toContain('processes of the service run with other settings');
  expect((await row()).hasNewRules).toBe(true);

  const since = await place.key(':{bridge.fleet}:settingsDifferSince');
  await place.redis.set(since, String(Date.now() - 16 * 60_000));
  const words = 'processes run with different settings of main since ';
  const [status, doctor] = [await place.commands.run('status'), await place.commands.run('doctor')];
  expect([status.code, status.text, doctor.text]).toEqual([
    2,
    expect.stringContaining(words),
    expect.stringContaining(words),
  ]);
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const health = await fetch(`http://127.0.0.1:${other.port}/health`, { headers: { authorization } });
  expect(((await health.json()) as any).components.fleet.findings[0]).toContain(words);
  const told = async () =>
    (await scrape(other.port)).value('bridge_fleet_findings', { finding: 'settingsDiffer' });
  await eventually('the metric tells it', async () => (await told()) === 1, 10_000);
}, 120_000);

test('a process with former settings runs, and the guard holds changes of a run → status tells of both, and of a run that a hold stopped it does not tell of the settings', async () => {
  await open({ guard: { deactivate: { count: 0, percent: 0 } } });
  await former.stop();
  await place.start('api');
  editMain({ users: WITHOUT_P });
  await place.start('worker');
  await pause(START_MS);
  await place.commands.run('reconcile', '--yes');
  expect((await place.commands.run('status')).text.replaceAll(/\s+/g, ' ')).toContain(
    ': held, the guard held 4 changes; processes of the service run with other settings',
  );
  await place.commands.run('hold');
  editMain({ users: { scope: 'not (userName sw "p") and not (userName sw "q")' } });
  const { text } = await place.commands.run('reconcile', '--yes');
  expect(text).toContain('the target was on hold');
  expect(text).not.toContain('may have applied');
}, 60_000);
