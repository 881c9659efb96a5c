// Tests a Redis that comes back with an old copy of its data, with all of it, or empty, while the service runs.
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { openDesiredStates } from '../../src/app/open.ts';
import { readSettings } from '../../src/cli/cli.ts';
import { freePort, startLocalRedis, type LocalRedis } from '../../src/demo/local-redis.ts';
import { eventually } from '../support/eventually.ts';
import { scrape } from '../support/scrape.ts';
import { openPlace, untilLookedAt, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const MINUTE = 60_000;

let root: string;
let port: number;
let server: LocalRedis;
let place: Place;
let ann: string;

/** `always`: the copied folder has every write that Redis has answered. */
const startRedis = (folder: string) =>
  startLocalRedis({ env: {}, port, folder: join(root, folder), appendfsync: 'always' });
const isOpen = async () => (await place.platform.user(ANN))?.active;
const setActive = (value: boolean) =>
  place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value });

/** Kills Redis, and starts it with the data of a folder. */
async function comeBackWith(folder: string): Promise<void> {
  const { process: running } = server;
  if (!running) throw new Error('The test needs a Redis server of its own.');
  const ended = once(running, 'exit');
  running.kill('SIGKILL');
  await ended;
  server = await startRedis(folder);
  await eventually('the service reaches Redis', async () => {
    const { ok } = await fetch(`http://127.0.0.1:${place.port}/readyz`);
    return ok;
  });
}

const untilHeld = () =>
  eventually('the target is on hold', async () => {
    const [row] = (await place.commands.run('status', '--json')).json;
    return row.hold ?? undefined;
  });

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'scim-bridge-older-'));
  port = await freePort();
  for (const folder of ['now', 'empty']) mkdirSync(join(root, folder));
  server = await startRedis('now');
  place = await openPlace({ rest: { redis: { url: server.url, prefix: 'older' } } });
  ann = await place.idp.createUser(ANN);
  await place.idle();
}, 60_000);
afterEach(async () => {
  await place.stop();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

test('Redis returns with data of a minute ago, when a leaver was active → the target is on hold, and reconcile does not reactivate the account', async () => {
  await untilLookedAt(place);
  await place.redis.set(await place.key(':dataSeen'), String(Date.now() - MINUTE));
  cpSync(join(root, 'now'), join(root, 'old'), { recursive: true });
  await setActive(false);
  await eventually('the account is closed', async () => (await isOpen()) === false);
  await untilLookedAt(place);
  await comeBackWith('old');
  expect(await untilHeld()).toMatchObject({
    by: 'scim-bridge',
    note: expect.stringMatching(/older data.*are lost/),
  });
  expect((await place.commands.run('status')).text).toContain('scim-bridge release');
  expect((await place.commands.run('reconcile', '--yes')).code).not.toBe(0);
  expect(await isOpen()).toBe(false);

  // The full cycle of the identity provider repeats the deactivation.
  await setActive(false);
  await place.commands.run('release');
  await place.idle();
  expect((await place.commands.run('reconcile', '--yes')).code).toBe(0);
  expect(await isOpen()).toBe(false);
}, 60_000);

test('Redis returns with older data, and a process that has just started sees it first → the target is still put on hold', async () => {
  await untilLookedAt(place);
  await place.redis.set(await place.key(':dataSeen'), String(Date.now() - MINUTE));
  const file = join(place.commands.folder, 'bridge.json');
  const opened = openDesiredStates(readSettings({ env: {}, cwd: place.commands.folder, file }));
  await opened.reach();
  for (const { olderData } of opened.states) expect((await olderData.check()).loss).toBe('whole');
  opened.redis.disconnect();
  await untilHeld();
}, 60_000);

test('Redis is killed and returns with all its data → no target is on hold', async () => {
  await untilLookedAt(place);
  await comeBackWith('now');
  await setActive(false);
  await place.idle();
  expect(await isOpen()).toBe(false);
  expect((await place.commands.run('status')).code).toBe(0);
}, 60_000);

test('Redis returns empty → status, doctor and a metric report the loss, and new pushes are applied without a release', async () => {
  await untilLookedAt(place);
  await comeBackWith('empty');
  const { code } = await eventually('status tells it', async () => {
    const answer = await place.commands.run('status');
    return answer.text.includes('Redis came back empty') && answer;
  });
  expect(code).toBe(2);
  expect((await place.commands.run('doctor')).text).toContain('Redis came back empty');
  expect((await scrape(place.port)).value('bridge_fleet_findings', { finding: 'dataLost' })).toBe(1);
  ann = await place.idp.createUser(ANN);
  await setActive(false);
  await place.idle();
  expect(await isOpen()).toBe(false);
}, 60_000);
