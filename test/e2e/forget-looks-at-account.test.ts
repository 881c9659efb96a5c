// Tests that forget tells the present state of the account at the platform, and not only what the bridge wrote last.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';

let place: Place;
let bob: string;
beforeEach(async () => {
  place = await openPlace({});
  bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

const { outcome } = commandsAt(() => place);
const forget = (...flags: string[]) => outcome('forget', `User:${bob}`, '--yes', ...flags);
const scimId = async (): Promise<string> => (await place.platform.user(BOB))?.scimId ?? '';
const open = async (): Promise<void> =>
  byHand(place, 'PATCH', `/Users/${await scimId()}`, { op: 'replace', path: 'active', value: true });

test('somebody reactivates the account of a leaver at the platform → forget exits 1, and succeeds after a reconcile', async () => {
  await open();
  expect((await place.platform.user(BOB))?.active).toBe(true);
  const [code, text] = await forget();
  expect(code).toBe(1);
  expect(text).toContain(`account ${await scimId()} at main is active.`);
  expect((await place.commands.run('reconcile', '--yes')).code).toBe(0);
  await place.idle();
  expect((await place.platform.user(BOB))?.active).toBe(false);
  const [, forgotten] = await forget();
  expect(forgotten).toContain(`account ${await scimId()} stays at main, deactivated`);
}, 60_000);

test('forget of a leaver without a link and with an active account says that the account is open', async () => {
  await place.commands.run('links', 'forget', `User:${bob}`, '--leave-account');
  await open();
  expect(await forget()).toEqual([
    1,
    expect.stringContaining(`account ${await scimId()} at main is active.`),
  ]);
}, 60_000);

test('forget of a leaver whose account was deleted at the platform says that the account is gone', async () => {
  const id = await scimId();
  await byHand(place, 'DELETE', `/Users/${id}`);
  await place.platform.forgetRequests();
  expect(await forget()).toEqual([0, expect.stringContaining(`account ${id} is no longer at main`)]);
  const lists = (await place.platform.requests()).filter(
    ({ path, query }) => path.endsWith('/Users') && !query.includes('filter'),
  );
  expect(lists).toHaveLength(1);
}, 60_000);

test('the platform does not answer calls → forget --leave-account of a leaver ends within 15 seconds', async () => {
  await place.platform.control('PATCH', '/faults', { timeoutBeforeCommit: { share: 1 } });
  const startedAt = Date.now();
  const [code, text] = await forget('--leave-account');
  expect(Date.now() - startedAt).toBeLessThan(15_000);
  expect([code, text]).toEqual([0, expect.stringContaining('stays at main, as it is, which may be active')]);
}, 60_000);

test('forget of a leaver exits 1 while the platform does not answer, and --leave-account says that the account may be active', async () => {
  await place.platform.control('PATCH', '/faults', { status5xx: { share: 1 } });
  expect(await forget()).toEqual([1, expect.stringContaining('the platform did not show its state')]);
  const [code, text] = await forget('--leave-account');
  expect(code).toBe(0);
  expect(text).toContain(`stays at main, as it is, which may be active`);
}, 60_000);
