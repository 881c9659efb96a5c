// Tests commands while the address in the settings leads to a platform that has other people's accounts under the ids of the links,
// and no reconcile has looked at it: nothing is written there, and nothing that is there counts as a state of the linked accounts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import type { Place } from '../support/situation.ts';
import { ANN, CAI, DAN, EVE, openTwoTenants } from '../support/two-tenants.ts';

const BOB = 'bob@acme.example';
const FAY = 'fay@acme.example';
const WAITS =
  'the address of main changed, and nothing is written before a worker or scim-bridge reconcile --target main finds a linked account there';

let place: Place;
let other: Sandbox;
let ann: string;
/** The links, and a plan with the pending account of Fay, as they were saved before the address changed. */
let links: string;
let plan: string;
beforeAll(async () => {
  ({ place, other, ann } = await openTwoTenants());
  links = join(place.commands.folder, 'links.ndjson');
  await succeed('links', 'export', links);
  // Without a worker, the plan has a change that is pending.
  await place.stopApps();
  await place.start('api');
  await place.idp.createUser(FAY);
  plan = join(place.commands.folder, 'plan.json');
  expect((await outcome('plan', '--out', plan))[0]).toBe(2);
}, 60_000);
afterAll(async () => {
  await place.stop();
  await other.stop();
});

const { outcome, succeed, told } = commandsAt(() => place);
const plain = (text: string): string => text.replaceAll(/\S*main\.js /g, 'scim-bridge ');

/** Restarts with another platform, and without a scheduler, which would reconcile at once. */
async function moveTo({ ready }: Sandbox): Promise<void> {
  await place.stopApps();
  const file = join(place.commands.folder, 'bridge.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  Object.assign(settings.targets.main, { url: ready.platformUrl, token: ready.fixtures.apiKeys.admin });
  writeFileSync(file, JSON.stringify(settings));
  await place.start('api');
  await place.start('worker');
}

test('the address leads to another platform → status, doctor, explain, sync and verify-access say that nothing is written and why, and compare no account there', async () => {
  await moveTo(other);
  await place.idp.createUser(BOB);
  expect(plain(await told('status'))).toContain(WAITS);
  expect(plain((await outcome('doctor'))[1])).toContain(`address default → main: ${WAITS}`);
  const bob = plain(await told('explain', BOB, '--all'));
  expect(bob).toContain(`A change of ${BOB} waits because ${WAITS}.`);
  expect(bob).not.toContain('on its way');
  expect(bob).not.toContain('It is due at');
  expect((await place.commands.run('explain', BOB, '--json')).json[0]).toMatchObject({
    verdict: 'stopped',
    hasMoved: true,
  });
  const ann = plain(await told('explain', ANN, '--all'));
  expect(ann).toContain(`The state of ${ANN} is not known: main was not read at its new address`);
  expect(ann).toContain(`T${WAITS.slice(1)}.`);
  const [code, synced] = await outcome('sync', BOB);
  expect([code, plain(synced)]).toEqual([2, expect.stringContaining(`held: ${WAITS}`)]);
  expect(plain((await outcome('verify-access', BOB))[1])).toContain(`a change waits to be applied: ${WAITS}`);
  const unread = `not known: main was not read at its new address: ${WAITS}`;
  const { code: verified, json } = await place.commands.run('verify-access', ANN, '--json');
  expect([verified, json]).toMatchObject([1, { result: 'unknown', account: null, differences: [] }]);
  const details = json.chain.map(({ ok, detail }: any) => [ok, plain(detail)]);
  expect(details.slice(2)).toEqual([
    [undefined, unread],
    [undefined, unread],
  ]);
}, 60_000);

const LACKING =
  'the address leads to a platform whose group of the same id lacks a member whose removal is held';

test.each(['crew', CAI])(
  `${LACKING} → sync --dry-run of %s reads nothing there, and says why`,
  async (name) => {
    const { code, json } = await place.commands.run('sync', name, '--dry-run', '--json');
    expect([code, json]).toMatchObject([1, [{ differences: null, steps: [] }]]);
    expect(plain(json[0].message)).toBe(WAITS);
    expect(plain(await told('sync', name, '--dry-run'))).toContain(
      `the platform was not read, so nothing is known of what differs: ${WAITS}`,
    );
  },
  60_000,
);

test.each(['crew', CAI])(
  `${LACKING} → sync of %s compares nothing, and the removal stays held`,
  async (name) => {
    const { code, json } = await place.commands.run('sync', name, '--json');
    expect((await place.commands.run('approvals', 'list', '--json')).json).toHaveLength(1);
    expect([code, json]).toMatchObject([2, [{ differences: null, steps: [], outcome: 'held' }]]);
    expect(plain(json[0].message)).toBe(WAITS);
  },
  60_000,
);

test('the address changes after a plan was saved → apply exits 1 within 15 s and says that the new address was not read', async () => {
  const startedAt = Date.now();
  const [code, text] = await outcome('apply', plan, '--yes');
  expect([code, plain(text)]).toEqual([
    1,
    expect.stringContaining(`Nothing was changed: main was not read at its new address: ${WAITS}.`),
  ]);
  expect(Date.now() - startedAt).toBeLessThan(15_000);
}, 60_000);

test('the address changes after links were exported → links import refuses each line and compares no names there', async () => {
  const [code, text] = await outcome('links', 'import', links);
  expect([code, plain(text)]).toEqual([1, expect.stringContaining('0 linked, 0 as they were')]);
  expect(plain(text)).toContain('line 1: unrecognised: ');
  expect(plain(text)).toContain(`: main was not read at its new address: ${WAITS}`);
}, 60_000);

test.each([
  ['a closed account of somebody else', DAN],
  ['no account', EVE],
])(
  'the address leads to a platform with %s under the id of a leaver → forget of %s exits 1, names the address and forgets nothing',
  async (_, name) => expectUnread(name),
  60_000,
);

test('the address changes and then a person is deleted at the source → forget is refused because the account was not read at the new address', async () => {
  await place.idp.send('DELETE', `/Users/${ann}`);
  expect((await place.commands.run('explain', `User:${ann}`, '--json')).json[0].mark).not.toBeNull();
  await expectUnread(ANN);
}, 60_000);

/** Checks that forget refuses because the account of the link was not read at the new address. */
async function expectUnread(name: string): Promise<void> {
  const [code, text] = await outcome('forget', name, '--yes');
  const id = (await place.platform.user(name))?.scimId;
  const why = `may be active, because main was not read at its new address: ${WAITS}.`;
  const advice = 'Give the order again when the address is recognised, which scim-bridge doctor tells';
  const told = `Nothing was forgotten: account ${id} at main ${why} ${advice}, or say --leave-account`;
  expect([code, plain(text)]).toEqual([1, expect.stringContaining(told)]);
}

test("the address leads to the former platform again → the held removal can be approved, and forget sees that leavers' accounts are open", async () => {
  await moveTo(place.sandbox);
  await place.idle();
  expect(await told('explain', BOB, '--all')).toContain(`${BOB} is at main as desired`);
  expect(await told('status')).not.toContain('the address');
  await eventually('doctor has no finding about the address', async () =>
    (await told('doctor')).includes('address default') ? undefined : true,
  );
  expect((await place.platform.group('crew'))?.members).toEqual([CAI]);
  const [held] = (await place.commands.run('approvals', 'list', '--json')).json;
  await succeed('approvals', 'approve', held.id, '--yes');
  await place.idle();
  expect((await place.platform.group('crew'))?.members).toEqual([]);
  for (const name of [DAN, EVE])
    expect(await outcome('forget', name, '--yes')).toEqual([
      1,
      expect.stringContaining('at main is active.'),
    ]);
}, 60_000);
