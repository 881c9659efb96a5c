// Tests a person with an account who gets the userName of a leaver's account: an open one, because the guard holds its deactivation
// or an operator rejected it, or a closed one. Closing an account frees no userName; deleting it does.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const IVY = 'ivy@acme.example';
const JAN = 'jan@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let ivy: string;
let jan: string;
let taken: string;

/** Returns the message of the conflict, which names the leaver. */
const takenBy = (leaver: string): string =>
  `userName is already taken by the account of a person who left, User:${leaver}, and closing that account alone does not free the name: rename the account at the platform, or delete it there once it is closed`;

/** Opens the place, and waits until the guard holds the deactivation of ivy, a leaver who is in the group Ops. */
async function openWithHeldLeaver(deprovision: 'deactivate' | 'delete', users: object = {}): Promise<void> {
  place = await openPlace({
    target: { guard: { deactivate: NONE, removeMembers: NONE }, users: { deprovision, ...users } },
  });
  ivy = await place.idp.createUser(IVY);
  jan = await place.idp.createUser(JAN);
  await place.idp.createGroup('Ops', [ivy]);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ivy}`);
  await eventually('the deactivation is held', async () => (await openApprovals()).length === 1);
  taken = takenBy(ivy);
}
afterEach(() => place.stop());

const openApprovals = async (): Promise<{ id: string }[]> =>
  (await place.commands.run('approvals', 'list', '--json')).json;
const { outcome } = commandsAt(() => place);
const takeName = () => place.idp.patch(`/Users/${jan}`, { op: 'replace', path: 'userName', value: IVY });
const decide = async (order: 'approve' | 'reject'): Promise<void> => {
  for (const { id } of await openApprovals()) await place.commands.run('approvals', order, id, '--yes');
  await place.idle();
};
const scimIdOf = async (name: string): Promise<string> => (await place.platform.user(name))?.scimId ?? '';

/** Expects that each command names the leaver's account as the reason, and that plan counts no change. */
async function expectTaken(): Promise<void> {
  const [code, plan] = await outcome('plan');
  expect([code, plan]).toEqual([0, expect.stringContaining(taken)]);
  expect(plan).not.toContain('1 to update');
  expect(await outcome('sync', `User:${jan}`, '--dry-run')).toEqual([0, expect.stringContaining(taken)]);
  expect((await outcome('explain', `User:${jan}`))[1]).toContain(taken);
  expect(await outcome('sync', `User:${jan}`)).toEqual([1, expect.stringContaining(taken)]);
}

test.each(['held', 'rejected'] as const)(
  'a person gets the userName of a leaver whose deactivation is %s → plan, sync and explain say that the account keeps the name, until somebody renames it and retries',
  async (state) => {
    await openWithHeldLeaver('deactivate');
    if (state === 'rejected') await decide('reject');
    await takeName();
    await eventually('the rename is refused', async () =>
      (await outcome('explain', `User:${jan}`))[1].includes(taken),
    );
    await expectTaken();
    expect(await place.platform.user(IVY)).toMatchObject({ active: true });
    await byHand(place, 'PATCH', `/Users/${await scimIdOf(IVY)}`, {
      op: 'replace',
      path: 'userName',
      value: 'former@acme.example',
    });
    expect((await outcome('dead-letters', 'retry', `User:${jan}`))[0]).toBe(0);
    await place.idle();
    expect(await place.platform.user(IVY)).toMatchObject({ externalId: `ext-${JAN}`, active: true });
    await decide('approve');
    const isOpen = (await place.platform.user('former@acme.example'))?.active;
    expect(isOpen).toBe(state === 'rejected');
  },
  60_000,
);

test('a person gets the userName of a leaver whose deactivation is approved → the closed account keeps the name, until somebody deletes it and retries the dead letter', async () => {
  await openWithHeldLeaver('deactivate');
  await takeName();
  await eventually('the rename is refused', async () =>
    (await outcome('explain', `User:${jan}`))[1].includes(taken),
  );
  await decide('approve');
  expect(await place.platform.user(IVY)).toMatchObject({ active: false });
  await expectTaken();
  await byHand(place, 'DELETE', `/Users/${await scimIdOf(IVY)}`);
  expect((await outcome('dead-letters', 'retry', `User:${jan}`))[0]).toBe(0);
  await place.idle();
  expect(await place.platform.user(IVY)).toMatchObject({ externalId: `ext-${JAN}`, active: true });
}, 60_000);

test('while the target is on hold, a person gets the userName of a leaver with a held deactivation → plan and sync --dry-run say that the account keeps the name', async () => {
  await openWithHeldLeaver('deactivate');
  await outcome('hold', '--by', 'olga');
  await takeName();
  expect(await outcome('plan')).toEqual([0, expect.stringContaining(taken)]);
  expect(await outcome('sync', `User:${jan}`, '--dry-run')).toEqual([0, expect.stringContaining(taken)]);
}, 60_000);

test('with deleteAfterDays: 40, a person gets the userName of a leaver with a held deactivation → plan, sync and explain say that the account keeps the name, because no approval frees it', async () => {
  await openWithHeldLeaver('deactivate', { deleteAfterDays: 40 });
  await takeName();
  await eventually('the rename is refused', async () =>
    (await outcome('explain', `User:${jan}`))[1].includes(taken),
  );
  await expectTaken();
}, 60_000);

test.each([
  ['deprovision: delete', 'delete', {}],
  ['deleteAfterDays: 0', 'deactivate', { deleteAfterDays: 0 }],
] as const)(
  'with %s, a person gets the userName of a leaver with a held deactivation → plan lists the rename as waiting, and it is written after the approval',
  async (_name, deprovision, users) => {
    await openWithHeldLeaver(deprovision, users);
    await takeName();
    await eventually('the rename waits', async () =>
      (await outcome('explain', `User:${jan}`))[1].includes('gives up a name or account'),
    );
    const [code, plan] = await outcome('plan');
    expect([code, plan]).toEqual([
      0,
      expect.stringContaining(
        'waits for a held change of the user or group that has the name or account now',
      ),
    ]);
    expect(plan).not.toContain('1 to update');
    await decide('approve');
    await eventually(
      'the person has the name',
      async () => (await place.platform.user(IVY))?.externalId === `ext-${JAN}`,
      30_000,
    );
  },
  90_000,
);

test('a person gets the last userName of a leaver with a closed account → plan and sync --dry-run name the conflict before any rename is tried', async () => {
  place = await openPlace({});
  ivy = await place.idp.createUser(IVY);
  jan = await place.idp.createUser(JAN);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ivy}`);
  await place.idle();
  expect(await place.platform.user(IVY)).toMatchObject({ active: false });
  await outcome('hold', '--by', 'olga');
  await takeName();
  for (const command of [['plan'], ['sync', `User:${jan}`, '--dry-run']])
    expect(await outcome(...command)).toEqual([0, expect.stringContaining(takenBy(ivy))]);
}, 60_000);
