// Tests an operator's hold while reconcile holds the target because it may be another tenant: neither hold ends with the other one.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

const NAMES = ['ann', 'ben', 'cho', 'dan', 'eve'].map((name) => `${name}@acme.example`);

let place: Place;
let other: Sandbox;
let backup: string;

const statusHold = async () => (await place.commands.run('status', '--json')).json[0].hold;
const untilHeldBy = (isExpected: (by: string | undefined) => boolean) =>
  eventually('the reconcile of the start has ended', async () => isExpected((await statusHold())?.by));
const accountNames = async () => (await place.platform.state()).users.map(({ userName }) => userName);

const moveTo = ({ ready }: Sandbox) =>
  place.change(({ targets }) =>
    Object.assign(targets.main, { url: ready.platformUrl, token: ready.fixtures.apiKeys.admin }),
  );

/** Moves the target back to its own tenant, and waits until the hold of reconcile has ended. */
async function comeBack(): Promise<void> {
  await moveTo(place.sandbox);
  await untilHeldBy((by) => by !== 'reconcile');
}

beforeEach(async () => {
  place = await openPlace({ ownRedis: true, rest: { reconcile: { schedule: '0 3 1 1 *' } } });
  for (const userName of NAMES) await place.idp.createUser(userName);
  await place.idle();
  await run(place, 'reconcile', '--yes');
  backup = join(place.commands.folder, 'day.backup');
  await run(place, 'backup', backup);
  other = await startSandbox();
  await moveTo(other);
  await untilHeldBy((by) => by === 'reconcile');
}, 60_000);
afterEach(async () => {
  await place.stop();
  await other.stop();
});

test('an operator orders `hold` on a target that is held because of another tenant → this hold stays after the tenant is recognised, until a release', async () => {
  const held = await place.commands.run('hold', '--note', 'audit', '--by', 'olga');
  expect([held.code, held.text]).toEqual([0, 'default → main: on hold']);
  const refused = await place.commands.run('release');
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining('stays on hold')]);
  await expect(statusHold()).resolves.toMatchObject({ by: 'reconcile' });
  const again = await place.commands.run('hold', '--note', 'another', '--by', 'ivan');
  expect(again.text).toContain('was not changed');
  await place.idp.createUser('late@acme.example');
  await comeBack();
  await expect(statusHold()).resolves.toMatchObject({ by: 'olga', note: 'audit' });
  await expect(accountNames()).resolves.not.toContain('late@acme.example');
  await run(place, 'release');
  await place.idle();
  await expect(accountNames()).resolves.toContain('late@acme.example');
}, 60_000);

test('a target is restored while it is held because of another tenant → it stays on hold until an operator releases it', async () => {
  await place.idp.createUser('late@acme.example');
  await place.stopApps();
  await run(place, 'restore', backup, '--replace', '--yes');
  await expect(statusHold()).resolves.toMatchObject({ by: 'reconcile' });
  await comeBack();
  await expect(statusHold()).resolves.toMatchObject({ note: expect.stringContaining('restored from') });
  await place.idp.createUser('new@acme.example');
  await expect(accountNames()).resolves.not.toContain('new@acme.example');
  await run(place, 'release');
  await place.idle();
  await expect(accountNames()).resolves.toContain('new@acme.example');
}, 60_000);

test('an operator called "reconcile" holds a target, and a reconcile recognises the tenant → the target stays on hold until a release', async () => {
  await comeBack();
  await run(place, 'hold', '--by', 'reconcile', '--note', 'audit');
  await run(place, 'reconcile', '--yes');
  await expect(statusHold()).resolves.toMatchObject({ by: 'reconcile (operator)', note: 'audit' });
  await place.idp.createUser('late@acme.example');
  await expect(accountNames()).resolves.not.toContain('late@acme.example');
  await run(place, 'release');
  await place.idle();
  await expect(accountNames()).resolves.toContain('late@acme.example');
}, 60_000);
