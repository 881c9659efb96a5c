// Tests commands while DNS or a proxy leads the unchanged address of a target to a platform that has other people's accounts under
// the ids of the links, and a reconcile has put the target on hold for it: nothing is written there, and nothing that is there
// counts as a state of the linked accounts.
import { join } from 'node:path';
import '../support/load-modules.ts';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { commandsAt } from '../support/commands-at.ts';
import { startFront, type Front } from '../support/front.ts';
import type { PlatformView } from '../support/platform-view.ts';
import type { Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';
import { ANN, CAI, DAN, EVE, openTwoTenants } from '../support/two-tenants.ts';

const BOB = 'bob@acme.example';
const TENANT = 'main may be another tenant and was not read';
const ENDS =
  'If main is meant to be another tenant: scim-bridge reconcile --target main --accept-tenant. If not: correct targets.main.url, or the DNS entry or proxy that leads it there, and restart; the reconcile of the start ends the hold';
const WHY = 'default: 3 of 3 linked accounts belong to other people there';
const HELD = `on hold by reconcile (${WHY}): nothing is written. ${ENDS}`;

let front: Front;
let place: Place;
let other: Sandbox;
let there: PlatformView;
/** The links as `links export` wrote them before the address led elsewhere. */
let links: string;
/** A plan that was saved before; it closes the account of a leaver that somebody has opened. */
let plan: string;
beforeAll(async () => {
  front = await startFront();
  ({ place, other, there } = await openTwoTenants(front));
  links = join(place.commands.folder, 'links.ndjson');
  await run(place, 'links', 'export', links);
  plan = join(place.commands.folder, 'plan.json');
  expect((await outcome('plan', '--out', plan))[0]).toBe(2);
  lead(other);
  const [code, text] = await outcome('reconcile', '--yes');
  expect([code, plain(text)]).toEqual([
    2,
    expect.stringContaining('3 of 3 linked accounts belong to other people there'),
  ]);
  await there.forgetRequests();
}, 60_000);
afterAll(async () => {
  await place.stop();
  await other.stop();
  front.stop();
});

const { outcome, told } = commandsAt(() => place);
const plain = (text: string): string => text.replaceAll(/\S*main\.js /g, 'scim-bridge ');

/** Lets the address lead to this platform. */
function lead({ ready }: Sandbox): void {
  front.platformUrl = ready.platformUrl;
  front.token = ready.fixtures.apiKeys.admin;
}

/** Returns the requests to the other platform about single accounts and groups, or that change something. */
const touched = async () =>
  (await there.requests())
    .filter(({ method, path }) => method !== 'GET' || /\/(Users|Groups|users)\/\d+/.test(path))
    .map(({ method, path }) => `${method} ${path}`);

test('the address leads to another tenant → explain and verify-access say that the platform was not read, and which command ends the hold', async () => {
  const explained = plain(await told('explain', ANN, '--all'));
  expect(explained).toContain(`The state of ${ANN} is not known: ${TENANT}`);
  expect(explained).toContain(ENDS);
  const { code, json } = await place.commands.run('verify-access', ANN, '--json');
  expect([code, json]).toMatchObject([1, { result: 'unknown', account: null, differences: [] }]);
  const details = json.chain.slice(2).map(({ ok, detail }: any) => [ok, plain(detail)]);
  const unread = `not known: ${TENANT}: ${HELD}`;
  expect(details).toEqual([
    [undefined, unread],
    [undefined, unread],
  ]);
  expect(await touched()).toEqual([]);
}, 60_000);

test.each(['crew', CAI, ANN])(
  'the address leads to another tenant → sync and sync --dry-run of %s compare nothing there, and the held removal stays held',
  async (name) => {
    const dry = await place.commands.run('sync', name, '--dry-run', '--json');
    expect([dry.code, dry.json]).toMatchObject([1, [{ differences: null, steps: [] }]]);
    expect(plain(dry.json[0].message)).toBe(HELD);
    const { code, json } = await place.commands.run('sync', name, '--json');
    expect([code, json]).toMatchObject([2, [{ differences: null, steps: [], outcome: 'held' }]]);
    expect(plain(json[0].message)).toBe(HELD);
    expect((await place.commands.run('approvals', 'list', '--json')).json).toHaveLength(1);
    expect(await touched()).toEqual([]);
  },
  60_000,
);

test.each([
  ['a closed account of somebody else', DAN],
  ['no account', EVE],
])(
  'the address leads to another tenant with %s under the id of a leaver → forget of %s exits 1, names the cause, and forgets nothing',
  async (_, name) => {
    const [code, text] = await outcome('forget', name, '--yes');
    const id = (await place.platform.user(name))?.scimId;
    const advice = 'Give the order again when the tenant is recognised, which scim-bridge doctor tells';
    expect([code, plain(text)]).toEqual([
      1,
      expect.stringContaining(
        `Nothing was forgotten: account ${id} at main may be active, because ${TENANT}: ${ENDS}. ${advice}, or say --leave-account`,
      ),
    ]);
    expect(await touched()).toEqual([]);
  },
  60_000,
);

test('the address leads to another tenant → apply of an older plan exits 1 within 15 s, and says that the target may be another tenant', async () => {
  const startedAt = Date.now();
  const [code, text] = await outcome('apply', plan, '--yes');
  expect([code, plain(text)]).toEqual([
    1,
    expect.stringContaining(`Nothing was changed: ${TENANT}: ${ENDS}.`),
  ]);
  expect(Date.now() - startedAt).toBeLessThan(15_000);
  expect(await touched()).toEqual([]);
}, 60_000);

test('the address leads to another tenant → links import refuses each line, and says why', async () => {
  await run(place, 'links', 'forget', ANN);
  const [code, text] = await outcome('links', 'import', links);
  expect([code, plain(text)]).toEqual([1, expect.stringContaining('0 linked, 0 as they were')]);
  expect(plain(text)).toContain(`line 1: unrecognised: `);
  expect(plain(text)).toContain(`${TENANT}: ${ENDS}`);
  expect(await touched()).toEqual([]);
}, 60_000);

test('the address leads to the linked tenant again → a reconcile ends the hold, and the commands read the accounts', async () => {
  lead(place.sandbox);
  await place.idp.createUser(BOB);
  await outcome('reconcile', '--yes');
  await place.idle();
  expect(await told('explain', BOB, '--all')).toContain(`${BOB} is at main as desired`);
  // The reconcile has closed the account of the leaver again.
  expect(await place.platform.user(DAN)).toMatchObject({ active: false });
  expect(await outcome('forget', DAN, '--yes')).toEqual([0, expect.stringContaining('deactivated')]);
}, 60_000);
