// Tests that accounts of deleted users are deleted after `users.deleteAfterDays` that was set after the users were deleted.
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const DAY_MS = 86_400_000;

let place: Place;
let ann = '';
beforeAll(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  await place.idle();
  for (const id of [ann, bob]) await place.idp.send('DELETE', `/Users/${id}`);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const run = async (...words: string[]) => {
  const { code, text } = await place.commands.run(...words);
  return { code, text };
};

/** Moves the deletion of a user at the source into the past. */
async function deletedEarlier(id: string, days: number): Promise<void> {
  const key = await place.key(':tombstones');
  const tombstone = JSON.parse((await place.redis.hget(key, id)) ?? '{}') as { deletedAt: number };
  await place.redis.hset(
    key,
    id,
    JSON.stringify({ ...tombstone, deletedAt: tombstone.deletedAt - days * DAY_MS }),
  );
}

const isThere = async (name: string): Promise<boolean> => (await place.platform.user(name)) !== undefined;

test('users.deleteAfterDays is set after two people were deleted and is over for one → plan, sync --dry-run and explain announce the deletion of this account, and reconcile deletes only it', async () => {
  await place.change(({ targets }) => {
    targets.main.users = { deleteAfterDays: 5 };
  });
  await deletedEarlier(ann, 8);
  const over = 'deleted at the source; the 5 days of users.deleteAfterDays are over';
  const plan = await run('plan');
  expect(plan).toEqual({ code: 2, text: expect.stringContaining(over) });
  expect(plan.text).toContain(`1 change. 1 to delete.`);
  const dryRun = await run('sync', `User:${ann}`, '--dry-run');
  expect(dryRun.text).toContain(`delete ${ANN} (${over})`);
  expect((await run('explain', ANN, '--all')).text).toContain(`At the platform: ${over}.`);
  expect((await run('explain', BOB, '--all')).text).toMatch(
    /deleted for good by the first reconcile that repairs after 2\S+Z, or by scim-bridge sync User:\w+ then/,
  );
  const reconciled = await run('reconcile', '--yes');
  expect([reconciled.code, await isThere(ANN), await isThere(BOB)]).toEqual([0, false, true]);
}, 60_000);

test('resync counts a deleted person with a linked closed account, and explain names the time at which the account is deleted', async () => {
  expect((await run('resync')).text).toContain('Users and groups marked for another sync: 1.');
  await place.idle();
  const { text } = await run('explain', BOB, '--all');
  expect(text).toMatch(/The account is deleted for good at 2\S+Z \(users\.deleteAfterDays: 5\)/);
  expect(text).not.toContain('looked at again by itself');
}, 60_000);

test('users.deprovision becomes delete after a person was deleted → plan lists the deletion of the closed account', async () => {
  const { text } = await run('plan');
  expect(text).toContain('The platform is as desired');
  await place.change(({ targets }) => {
    targets.main.users = { deprovision: 'delete' };
  });
  expect((await run('plan')).text).toContain('deleted at the source; users.deprovision is delete');
}, 60_000);
