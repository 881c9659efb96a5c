// Tests what apply reports about the changes of its plan: already done, stale, held or refused. Other changes are not
// reported.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isChange } from '../../src/reconcile/entry.ts';
import { parseSaved } from '../../src/reconcile/plan.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const CID = 'cid@acme.example';
const NONE = { count: 0, percent: 0 };
const TEAM = 'urn:cube:params:1.0:UserAttribute:team';

let place: Place;
const ids = new Map<string, string>();
beforeEach(async () => {
  const attributes = { team: { type: 'string', from: 'nickName' } };
  place = await openPlace({ target: { guard: { deactivate: NONE }, attributes } });
  for (const name of [ANN, BOB, CID])
    ids.set(name, await place.idp.createUser(name, { nickName: 'red', displayName: `Of ${name}` }));
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const idOf = (name: string): string => ids.get(name) ?? '';
const file = (): string => join(place.commands.folder, 'plan.json');
const apply = () => place.commands.run('apply', file(), '--yes');

const accountOf = async (name: string): Promise<string> =>
  `/Users/${(await place.platform.user(name))?.scimId ?? ''}`;
const rename = async (name: string, displayName: string): Promise<void> =>
  byHand(place, 'PATCH', await accountOf(name), { op: 'replace', path: 'displayName', value: displayName });
const heldIds = async (): Promise<string[]> =>
  (await place.commands.run('approvals', 'list', '--json')).json.map(({ id }: any) => id);
const nameAt = async (name: string): Promise<unknown> => (await place.platform.user(name))?.displayName;

/** Saves a plan, and expects this number of changes in it. */
async function save(changes: number): Promise<void> {
  expect((await place.commands.run('plan', '--full', '--out', file())).code).toBe(2);
  const [saved] = parseSaved(readFileSync(file(), 'utf8'));
  expect(saved?.entries.filter(isChange)).toHaveLength(changes);
}

test('apply of a plan that was applied before reports all changes as done and writes nothing', async () => {
  const crew = await place.idp.createGroup('crew', [idOf(ANN), idOf(BOB)]);
  expect(crew).toBeDefined();
  await place.idle();
  await rename(ANN, 'Meddled');
  await byHand(place, 'PATCH', await accountOf(BOB), { op: 'replace', path: TEAM, value: 'blue' });
  await byHand(place, 'PATCH', await accountOf(CID), { op: 'replace', path: 'active', value: false });
  const group = `/Groups/${(await place.platform.group('crew'))?.scimId}`;
  const gone = (await accountOf(ANN)).slice('/Users/'.length);
  await byHand(place, 'PATCH', group, { op: 'remove', path: `members[value eq "${gone}"]` });
  await save(4);
  expect((await apply()).code).toBe(0);
  await place.idle();
  await place.platform.forgetRequests();
  const again = await apply();
  expect(again.text).toContain(
    'converged: nothing is left to do of all 4 changes of the plan, by what the platform shows now',
  );
  expect(again.code).toBe(0);
  await expect(place.platform.writes()).resolves.toEqual([]);
}, 30_000);

test('a plan that creates an account and its membership is applied twice → the second apply reports both changes as done', async () => {
  await place.idp.createGroup('crew', [idOf(ANN), idOf(BOB)]);
  await place.idle();
  await byHand(place, 'DELETE', await accountOf(ANN));
  await save(2);
  expect((await apply()).code).toBe(0);
  await place.idle();
  const { code, text } = await apply();
  expect(text).toContain(
    'converged: nothing is left to do of all 2 changes of the plan, by what the platform shows now',
  );
  expect(code).toBe(0);
  await byHand(place, 'PATCH', `/Groups/${(await place.platform.group('crew'))?.scimId}`, {
    op: 'remove',
    path: `members[value eq "${(await accountOf(ANN)).slice('/Users/'.length)}"]`,
  });
  expect((await apply()).code).toBe(3);
}, 30_000);

test('apply reports the change of a plan as done if somebody made it by hand at the platform', async () => {
  await rename(ANN, 'Meddled');
  await save(1);
  await rename(ANN, `Of ${ANN}`);
  await place.platform.forgetRequests();
  const { code, text } = await apply();
  expect(text).toContain(
    'converged: nothing is left to do of the change of the plan, by what the platform shows now',
  );
  expect(code).toBe(0);
  await expect(place.platform.writes()).resolves.toEqual([]);
}, 30_000);

test('somebody makes one of two planned changes by hand → apply writes only the other change, and reports the first as done', async () => {
  await rename(ANN, 'Meddled');
  await rename(BOB, 'Meddled');
  await save(2);
  await rename(ANN, `Of ${ANN}`);
  const { code, text } = await apply();
  expect(text).toContain('Nothing is left to do of 1 change, by what the platform shows now');
  expect(code).toBe(0);
  expect(await nameAt(BOB)).toBe(`Of ${BOB}`);
}, 30_000);

test('apply refuses a plan as stale when the source has changed the value since, even if the platform has the new value', async () => {
  await rename(ANN, 'Meddled');
  await save(1);
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'replace', path: 'displayName', value: 'Ann' });
  await place.idle();
  expect(await nameAt(ANN)).toBe('Ann');
  const { code, text } = await apply();
  expect(text).toContain('The plan is stale: 1 of its changes');
  expect(code).toBe(3);
}, 30_000);

test('apply refuses a plan as stale when a planned value has changed again at the platform', async () => {
  await rename(ANN, 'Meddled');
  await rename(BOB, 'Meddled');
  await save(2);
  await rename(ANN, `Of ${ANN}`);
  await rename(BOB, 'Meddled again');
  const { code, text } = await apply();
  expect(text).toContain('The plan is stale: 1 of its changes');
  expect(code).toBe(3);
  expect(await nameAt(BOB)).toBe('Meddled again');
}, 30_000);

test('apply of a plan that was made with other mapping rules exits 3, names the changed rules and counts no changes', async () => {
  await rename(ANN, 'Meddled');
  await save(1);
  await place.change(({ targets: { main } }) => {
    main.attributes = {};
  });
  const { code, text } = await apply();
  expect(text).toContain('The plan is stale: the mapping rules have changed since it was made.');
  expect(text).not.toContain('of its changes');
  expect(code).toBe(3);
}, 30_000);

/** Lets the platform refuse the next value of a person, which leads to a dead letter. */
async function refuse(name: string): Promise<void> {
  await place.platform.control('PATCH', '/faults', {
    rules: [
      { method: 'PATCH', path: await accountOf(name), times: 1000, status5xx: { share: 1, status: 400 } },
    ],
  });
  await place.idp.patch(`/Users/${idOf(name)}`, { op: 'replace', path: 'displayName', value: 'Refused' });
  await place.idle();
  expect((await place.commands.run('dead-letters', 'list')).text).toContain(name);
}
const leave = async (name: string): Promise<void> => {
  await place.idp.patch(`/Users/${idOf(name)}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
};

test('apply of a plan does not report dead letters and held changes that are not part of the plan', async () => {
  await leave(ANN);
  await refuse(CID);
  await rename(ANN, 'Meddled');
  await rename(BOB, 'Meddled');
  await save(2);
  const { code, text } = await apply();
  expect(text.split('\n').at(-1)).toBe('default → main: converged');
  expect(code).toBe(0);
  expect([await nameAt(ANN), await nameAt(BOB)]).toEqual([`Of ${ANN}`, `Of ${BOB}`]);
}, 30_000);

test('apply names the dead letter of a change of its plan', async () => {
  await rename(CID, 'Meddled');
  await save(1);
  await place.platform.control('PATCH', '/faults', {
    rules: [
      { method: 'PATCH', path: await accountOf(CID), times: 1000, status5xx: { share: 1, status: 400 } },
    ],
  });
  const { code, text } = await apply();
  expect(text).toContain('blocked: 1 dead letter');
  expect(code).toBe(1);
  // No second attempt is made: the plan cannot be applied before a person acts about the dead letter.
  const again = await apply();
  expect(again.text).toContain('the platform refused it, see scim-bridge dead-letters list');
  expect(again.code).toBe(3);
}, 30_000);

test('apply names the removal of its plan that the guard holds', async () => {
  await leave(ANN);
  await place.commands.run('approvals', 'approve', (await heldIds())[0] ?? '', '--yes');
  await place.idle();
  await byHand(place, 'PATCH', await accountOf(ANN), { op: 'replace', path: 'active', value: true });
  await save(1);
  await leave(BOB);
  const { code, text } = await apply();
  expect(text).toContain('held: the guard holds 1 change of this run, 1 of 2 in the approval');
  expect(code).toBe(2);
}, 30_000);

test('apply writes a pushed change that still waited → a second apply of this plan lists no change, and says that nothing is left to do', async () => {
  await place.stopApps();
  await place.start('api');
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'replace', path: 'displayName', value: 'Pushed' });
  await save(1);
  const first = await apply();
  expect([first.code, first.text]).toEqual([0, expect.stringContaining('1 change. 1 to update')]);
  expect(await nameAt(ANN)).toBe('Pushed');
  const again = await apply();
  expect([again.code, again.text]).toEqual([
    0,
    expect.stringContaining('nothing is left to do of the change of the plan, by what the platform'),
  ]);
  expect(again.text).not.toContain('1 to update');
}, 60_000);

test('somebody undoes at the platform a change that apply made → a second apply of this plan exits 1 and asks for a new plan', async () => {
  await place.stopApps();
  await place.start('api');
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'replace', path: 'displayName', value: 'Pushed' });
  await save(1);
  expect((await apply()).code).toBe(0);
  await rename(ANN, 'Meddled');
  const { code, text } = await apply();
  expect(text).toContain('refused, rejected or undone by others since the plan was made: 1; make a new plan');
  expect(text).not.toContain('nothing is left to do');
  expect(code).toBe(1);
}, 60_000);
