// Tests accounts of leavers that are open again: plan lists the deletion that follows the closing of the account.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
afterEach(() => place.stop());

const { told } = commandsAt(() => place);

/** Opens a bridge with a person whom the source has deleted. */
async function openWithLeaver(target: object): Promise<string> {
  place = await openPlace({ target });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  return ann;
}

/**
 * Expects on hold that plan and the dry run name the deletion, and after the release that a reconcile closes and deletes the
 * account.
 * The hold keeps the service from its own reconcile after the change of the settings.
 */
async function expectDeletion(ann: string): Promise<void> {
  expect(await told('plan')).toContain('1 to delete');
  expect(await told('plan')).not.toContain('to deactivate');
  expect(await told('sync', `User:${ann}`, '--dry-run')).toContain('delete');
  await place.platform.forgetRequests();
  await told('release');
  await told('reconcile', '--yes');
  await eventually('the account is deleted', async () => (await place.platform.user(ANN)) === undefined);
  const writes = (await place.platform.writes()).filter(({ path }) => path.includes('/scim/v2/Users/'));
  expect(writes.map(({ method }) => method)).toEqual(['PATCH', 'DELETE']);
}

test.each([
  ['deprovision: delete', { deprovision: 'delete' }],
  ['deleteAfterDays: 0', { deleteAfterDays: 0 }],
])(
  "the policy changes from upsert-only to sync with users.%s → plan lists the deletion of a leaver's open account, and reconcile closes and deletes it",
  async (_name, users) => {
    const ann = await openWithLeaver({ policy: 'upsert-only' });
    expect(await place.platform.user(ANN)).toMatchObject({ active: true });
    await told('hold');
    await place.change(({ targets: { main } }) => Object.assign(main as object, { policy: 'sync', users }));
    await expectDeletion(ann);
  },
  60_000,
);

test('somebody reactivates the account of a leaver, and users.deprovision becomes delete → plan lists the deletion, and reconcile closes and deletes the account', async () => {
  const ann = await openWithLeaver({});
  const { scimId } = (await place.platform.user(ANN)) ?? {};
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: true });
  await told('hold');
  await place.change(({ targets: { main } }) =>
    Object.assign(main as object, { users: { deprovision: 'delete' } }),
  );
  expect(await told('plan')).toContain('deleted at the source, active again at the platform');
  await expectDeletion(ann);
}, 60_000);

test("two leavers' open accounts are to be deleted and the guard allows one deactivation → plan announces both as held, and reconcile holds both", async () => {
  place = await openPlace({
    target: { policy: 'upsert-only', guard: { deactivate: { count: 1, percent: 0 } } },
  });
  for (const name of [ANN, 'bob@acme.example']) {
    const id = await place.idp.createUser(name);
    await place.idle();
    await place.idp.send('DELETE', `/Users/${id}`);
  }
  await place.idle();
  await told('hold');
  await place.change(({ targets: { main } }) =>
    Object.assign(main as object, { policy: 'sync', users: { deprovision: 'delete' } }),
  );
  expect((await told('plan')).match(/to be held by the guard until an operator decides/g)).toHaveLength(2);
  await told('release');
  await told('reconcile', '--yes');
  await place.idle();
  expect(await told('approvals', 'list')).toContain('2 to deactivate');
  expect(await place.platform.user(ANN)).toMatchObject({ active: true });
}, 60_000);
