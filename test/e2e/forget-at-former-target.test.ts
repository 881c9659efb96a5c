// Tests `forget` of a person whose account is at a target that another connection alone feeds now, while that target may be another
// tenant: the account of somebody else there, under the same id, is not taken for the account of the person.
import '../support/load-modules.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { startFront, type Front } from '../support/front.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView, type PlatformView } from '../support/platform-view.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

/** Left; the link is forgotten, so only the log has the id of the account, and somebody has opened it again. */
const PAT = 'pat@acme.example';
const HR_TOKEN = 'token-of-hr-0123456789';

let front: Front;
let place: Place;
let second: Sandbox;
let other: Sandbox;
let there: PlatformView;
let pat: string;
beforeAll(async () => {
  front = await startFront();
  [second, other] = [await startSandbox(), await startSandbox()];
  place = await openPlace({ roles: [] });
  front.platformUrl = place.sandbox.ready.platformUrl;
  there = createPlatformView(other.ready.controlUrl);
  for (const platform of [place.platform, there])
    await platform.control('PATCH', '/settings', { scimIdStyle: 'numeric' });
  await place.change(({ targets }) => Object.assign(targets.main, { url: front.url }));
  const id = await place.idp.createUser(PAT);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${id}`);
  await place.idle();
  await run(place, 'links', 'forget', PAT, '--leave-account');
  pat = (await place.platform.user(PAT))?.scimId ?? '';
  await byHand(place, 'PATCH', `/Users/${pat}`, { op: 'replace', path: 'active', value: true });
  await place.change(({ connections, targets }) => {
    const { platformUrl, fixtures } = second.ready;
    Object.assign(targets, { second: { ...targets.main, url: platformUrl, token: fixtures.apiKeys.admin } });
    const { default: former } = connections as Record<string, object>;
    Object.assign(connections, {
      default: { ...former, targets: ['second'] },
      hr: { tokens: [{ name: 'primary', secret: HR_TOKEN }], targets: ['main'] },
    });
  });
  const hr = createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, HR_TOKEN);
  for (const name of ['ann', 'bob', 'cai']) await hr.createUser(`${name}@acme.example`);
  await place.idle();
  for (const name of ['zoe', 'yan', 'xia', 'wim'])
    await there.control('POST', '/fixtures', { users: [{ userName: `${name}@other.example` }] });
  expect((await there.user('zoe@other.example'))?.scimId).toBe(pat);
  await byHand({ sandbox: other }, 'PATCH', `/Users/${pat}`, { op: 'replace', path: 'active', value: false });
}, 60_000);
afterAll(async () => {
  await place.stop();
  for (const each of [second, other]) await each.stop();
  front.stop();
});

const { outcome } = commandsAt(() => place);

/** Checks that forget refuses and says this of the account. */
async function expectRefused(words: string): Promise<void> {
  const [code, text] = await outcome('forget', PAT, '--yes');
  const why = `Nothing was forgotten: account ${pat} at main may be active${words}. A target is no longer configured: put it back`;
  expect([code, text]).toEqual([1, expect.stringContaining(why)]);
}

test('the target still leads to the tenant of the account → forget is refused, because the account is active', () =>
  expectRefused(''));

test('the settings have a new address of the target that no run has read yet → forget is refused and says so', async () => {
  const { platformUrl, fixtures } = other.ready;
  const { token } = place.settings.targets.main;
  await place.change(({ targets }) =>
    Object.assign(targets.main, { url: platformUrl, token: fixtures.apiKeys.admin }),
  );
  await expectRefused(', because main was not read at its new address');
  await place.change(({ targets }) => Object.assign(targets.main, { url: front.url, token }));
}, 60_000);

test('the address leads to another tenant and its connection has it on hold → forget does not read an account there', async () => {
  front.platformUrl = other.ready.platformUrl;
  front.token = other.ready.fixtures.apiKeys.admin;
  const [code, text] = await outcome('reconcile', '--target', 'main', '--yes');
  expect([code, text]).toEqual([2, expect.stringContaining('main may be another tenant')]);
  await there.forgetRequests();
  await expectRefused(', because main may be another tenant and was not read');
  expect(await there.requests()).toEqual([]);
}, 60_000);
