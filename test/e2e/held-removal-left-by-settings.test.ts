// Tests changes of a person behind a held removal from a group that new settings do not want any more: the commands announce and
// write these changes, because no decision is left to wait for.
import '../support/load-modules.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';
const EXCLUDED = { groups: { exclude: ['^ops$'] } };
const UPSERT_ONLY = { policy: 'upsert-only' };

let place: Place;
let bob: string;
let fin: string;
beforeEach(async () => {
  place = await openPlace({
    target: {
      guard: { removeMembers: { count: 0, percent: 0 } },
      attributes: { level: { type: 'number', expression: '$number(title)', onEmpty: 'keep' } },
    },
  });
  const { idp } = place;
  bob = await idp.createUser(BOB, { title: '3' });
  const ops = await idp.createGroup('ops', [bob]);
  fin = await idp.createGroup('fin', []);
  await place.idle();
  await idp.patch(`/Groups/${ops}`, { op: 'remove', path: `members[value eq "${bob}"]` });
  await place.idle();
  expect((await run('approvals', 'list')).text).toContain('1 to take out of groups');
}, 60_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const words = async (...args: string[]): Promise<string> => (await run(...args)).text.replaceAll(/\s+/g, ' ');

/** Pushes a new membership, and a value if given, and restarts with the settings. No worker runs from here on. */
async function moveUnder(settings: object, title?: string): Promise<void> {
  await place.stopApps();
  await place.start('api');
  await place.idp.patch(`/Groups/${fin}`, { op: 'add', path: 'members', value: [{ value: bob }] });
  if (title !== undefined)
    await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'title', value: title });
  await place.stopApps();
  const file = join(place.commands.folder, 'bridge.json');
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  Object.assign(stored.targets.main, settings);
  writeFileSync(file, JSON.stringify(stored));
  await place.start('api');
}

/** Expects that the new membership is written and that nothing is held, while the former membership stays. */
async function expectMoved(level: number): Promise<void> {
  const account = await place.platform.user(BOB);
  expect([...(account?.groups ?? [])].sort()).toEqual(['fin', 'ops']);
  expect(account?.attributes.level).toBe(level);
  expect((await run('approvals', 'list')).text).toContain('The guard holds nothing');
}

test.each([
  ['groups.exclude leaves the group out', EXCLUDED],
  ['the policy upsert-only leaves members', UPSERT_ONLY],
])(
  "a removal is held and then %s → plan announces the person's new membership and value, and reconcile writes both",
  async (_, settings) => {
    await moveUnder(settings, '7');
    const plan = await run('plan');
    expect(plan.text).toContain('2 changes. 1 membership to add, 1 attribute to set.');
    expect(plan.text).not.toContain('waits for the held removal');
    expect(plan.code).toBe(2);
    const dryRun = await words('sync', BOB, '--dry-run');
    expect(dryRun).toMatch(/would write:.* addMember bob@acme.example in fin/);
    expect(dryRun).toContain('the present settings leave this membership');
    expect(dryRun).not.toContain('held by the guard');
    const { text, code } = await run('reconcile', '--yes', '--deadline', '30s');
    expect(text).toContain('default → main: converged');
    expect(code).toBe(0);
    await expectMoved(7);
  },
  90_000,
);

test("a removal is held and the policy becomes upsert-only → the first reconcile writes the person's membership in another group", async () => {
  await moveUnder(UPSERT_ONLY);
  const { text } = await run('reconcile', '--yes', '--deadline', '30s');
  expect(text).toContain('1 membership to add');
  await expectMoved(3);
}, 90_000);

test('a removal is held and the policy becomes upsert-only → sync of the person writes the membership in another group and the changed attribute', async () => {
  await moveUnder(UPSERT_ONLY, '7');
  expect((await run('sync', BOB, '--timeout', '30')).text).not.toContain('held');
  await expectMoved(7);
}, 90_000);

test('a removal is held and the settings then exclude its group → plan counts this group neither as linked nor as held', async () => {
  await moveUnder(EXCLUDED);
  expect(await words('plan')).toContain('groups: 1 in all: 0 linked, 1 pending, 0 missing');
}, 90_000);

test.each([
  ['groups.exclude leaves the group out', EXCLUDED],
  ['the policy upsert-only leaves members', UPSERT_ONLY],
])(
  'a removal is held and then %s → sync of the group that the person joins writes nothing and names sync of the person, which writes the membership',
  async (_, settings) => {
    const changed =
      'the settings have changed since the guard held it: the next reconcile, or scim-bridge sync';
    const listed =
      /the settings have changed since the guard held some of these changes: scim-bridge approvals show \S+ names/;
    expect(await words('exceptions')).not.toContain(changed);
    expect(await words('approvals', 'list')).not.toMatch(listed);
    await moveUnder(settings);
    expect(await words('approvals', 'list')).toMatch(listed);
    for (const command of [['plan'], ['exceptions'], ['status'], ['explain', 'ops']])
      expect(await words(...command)).toContain(changed);
    expect(await words('explain', 'ops')).toContain('unless the present settings do not want it any more');
    const member = `scim-bridge sync User:${bob}`;
    expect(await words('sync', `Group:${fin}`, '--dry-run')).toContain(
      `waits for the sync of the member: ${member}`,
    );
    const sync = await run('sync', `Group:${fin}`, '--timeout', '20');
    expect(sync.text).toContain(
      `waiting: 1 membership is not written yet: ${BOB}; ${member} syncs the member`,
    );
    expect(sync.code).toBe(2);
    expect((await place.platform.user(BOB))?.groups).toEqual(['ops']);
    expect((await run('sync', `User:${bob}`, '--timeout', '30')).code).toBe(0);
    await expectMoved(3);
    expect(await words('exceptions')).toBe('No exceptions.');
  },
  90_000,
);
