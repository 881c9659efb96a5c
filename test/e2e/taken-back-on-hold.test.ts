// Tests changes that the source takes back while the target is on hold, so that no sync judges them anew.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const NAMES = [0, 1, 2, 3].map((number) => `p${number}@acme.example`);

let place: Place;
let ids: string[];
let crew: string;
afterEach(() => place.stop());

const open = async (approvers: 1 | 2, more: object = {}): Promise<void> => {
  const guard = { approvers, deactivate: NONE, removeMembers: NONE, delete: NONE };
  place = await openPlace({ target: { guard, ...more } });
  ids = await Promise.all(NAMES.map((name) => place.idp.createUser(name)));
  crew = await place.idp.createGroup('crew', ids);
  await place.idle();
};
const setActive = async (number: number, value: boolean): Promise<void> => {
  await place.idp.patch(`/Users/${ids[number]}`, { op: 'replace', path: 'active', value });
};
const member = (number: number, op: 'add' | 'remove') =>
  place.idp.patch(`/Groups/${crew}`, {
    op,
    ...(op === 'add'
      ? { path: 'members', value: [{ value: ids[number] }] }
      : { path: `members[value eq "${ids[number] ?? ''}"]` }),
  });
const run = async (...words: string[]) => place.commands.run(...words);
const heldId = async (): Promise<string> => (await run('approvals', 'list', '--json')).json[0].id as string;
const approve = async (id: string, by: string) => run('approvals', 'approve', id, '--yes', '--by', by);
const active = async () => Promise.all(NAMES.map(async (name) => (await place.platform.user(name))?.active));
const members = async () => (await place.platform.group('crew'))?.members.toSorted();
const release = async (): Promise<void> => {
  await run('release');
  await place.idle();
};

test('the source takes deactivations back while the target is on hold → these deactivations are no longer listed, and an approval does not count them', async () => {
  await open(1);
  for (const number of [0, 1, 2]) await setActive(number, false);
  await place.idle();
  await run('hold');
  await setActive(0, true);
  await place.idp.send('PUT', `/Users/${ids[1]}`, {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: NAMES[1],
    active: true,
  });

  const id = await heldId();
  const shown = (await run('approvals', 'show', id)).text;
  expect(shown).toContain(NAMES[2]);
  expect(shown).not.toMatch(/p0@|p1@|scope/);
  const listed = (await run('exceptions', '--json')).json as { name: string; reason: string }[];
  expect(listed.filter(({ reason }) => reason === 'Held').map(({ name }) => name)).toEqual([NAMES[2]]);
  const plan = (await run('plan')).text;
  expect(plan).toMatch(/p2@/);
  expect(plan).not.toMatch(/held.*p0@/);
  expect((await approve(id, 'alice')).text).toMatch(/Approved: 1 .*\(1 to deactivate\)/);
  await release();
  await expect(active()).resolves.toEqual([true, true, false, true]);
  await expect(run('approvals', 'list')).resolves.toMatchObject({
    text: expect.not.stringContaining('default.main'),
  });
  await expect(run('exceptions')).resolves.toMatchObject({ text: 'No exceptions.' });
}, 60_000);

test('the source takes a deactivation back and makes it again while the target is on hold → the new deactivation needs two approvals of its own', async () => {
  await open(2);
  for (const number of [0, 1]) await setActive(number, false);
  await place.idle();
  const id = await heldId();
  await approve(id, 'alice');
  await run('hold');
  await setActive(1, true);
  await setActive(1, false);
  expect((await approve(id, 'bea')).text).toMatch(/Approved: 1 .*\(1 to deactivate\)/);
  await release();
  await expect(active()).resolves.toEqual([false, true, true, true]);
  const again = await heldId();
  expect(again).not.toBe(id);
  await approve(again, 'alice');
  await approve(again, 'bea');
  await place.idle();
  await expect(active()).resolves.toEqual([false, false, true, true]);
}, 60_000);

test.each(['approve', 'reject'])(
  'while the target is on hold, %s decides a deactivation and the source reactivates and deactivates the person → the deactivation is held anew',
  async (action) => {
    await open(1);
    await setActive(0, false);
    await place.idle();
    await run('hold');
    await run('approvals', action, await heldId(), '--yes');
    await setActive(0, true);
    await setActive(0, false);
    await release();
    await expect(active()).resolves.toEqual([true, true, true, true]);
    await approve(await heldId(), 'bea');
    await place.idle();
    await expect(active()).resolves.toEqual([false, true, true, true]);
  },
  60_000,
);

test('the source takes a removal back and makes it again while the target is on hold → the new removal needs two approvals of its own', async () => {
  await open(2);
  for (const number of [0, 1]) await member(number, 'remove');
  await place.idle();
  const id = await heldId();
  await approve(id, 'alice');
  await run('hold');
  await member(1, 'add');
  expect((await run('approvals', 'show', id)).text).not.toMatch(/p1@/);
  await member(1, 'remove');
  expect((await approve(id, 'bea')).text).toContain('Approved: 1 ');
  await release();
  await expect(members()).resolves.toEqual(NAMES.slice(1));
  expect((await run('approvals', 'show', await heldId())).text).toMatch(/p1@/);
}, 60_000);

test('the source reactivates a person whose removal from a group waited for the deactivation → the removal is judged on its own', async () => {
  await open(1);
  await setActive(0, false);
  await member(0, 'remove');
  await place.idle();
  await expect(members()).resolves.toEqual(NAMES);
  await run('hold');
  await setActive(0, true);
  await release();
  const [{ id, kinds }] = (await run('approvals', 'list', '--json')).json;
  expect(kinds).toMatchObject({ deactivate: 0, removeMembers: 1 });
  await approve(id, 'alice');
  await place.idle();
  await expect(members()).resolves.toEqual(NAMES.slice(1));
  await expect(active()).resolves.toEqual([true, true, true, true]);
}, 60_000);

test('the source reactivates a person with a held account deletion → the deletion is no longer held', async () => {
  await open(1, { users: { deprovision: 'delete', scope: 'active eq true' } });
  await setActive(0, false);
  await place.idle();
  await approve(await heldId(), 'alice');
  await place.idle();
  await setActive(1, false);
  await place.idle();
  const shown = async () => (await run('approvals', 'show', await heldId())).text;
  expect(await shown()).toMatch(/to delete:\n.*p0@/);
  await run('hold');
  await setActive(0, true);
  expect(await shown()).toMatch(/p1@/);
  expect(await shown()).not.toMatch(/p0@/);
  await release();
  await expect(active()).resolves.toEqual([true, true, true, true]);
}, 60_000);

test('the source takes a held removal of a member back → explain says that the group waits only for the member who leaves', async () => {
  await open(1);
  await member(0, 'remove');
  await place.idle();
  await setActive(1, false);
  await member(1, 'remove');
  await place.idle();
  await run('hold');
  await member(0, 'add');
  const explained = (await run('explain', 'crew')).text.replaceAll(/\s+/g, ' ');
  expect(explained).toContain('Held: the deactivation of 1 member, who leaves the group with the account.');
  expect(explained).not.toContain('Held: the removal of members');
}, 60_000);
