// Tests pending removals of a member whose account others deleted at the platform: the memberships ended with the account.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ids: Record<string, string>;
beforeEach(async () => {
  place = await openPlace({});
  ids = { ann: await place.idp.createUser(ANN), bob: await place.idp.createUser(BOB) };
  const members = Object.values(ids);
  for (const name of ['fin', 'ops']) ids[name] = await place.idp.createGroup(name, members);
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

/** Starts a bridge without a worker, so that each write is one of the command, and deletes the account of bob by hand. */
async function deleteByHand(): Promise<void> {
  await place.stopApps();
  await place.start('api');
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(BOB))?.scimId}`);
}
const { outcome } = commandsAt(() => place);
const removeBobFrom = (group: string): Promise<unknown> =>
  place.idp.patch(`/Groups/${ids[group]}`, { op: 'remove', path: `members[value eq "${ids.bob}"]` });
const membersOf = async (name: string) => (await place.platform.group(name))?.members;

test('the account of a person is deleted at the platform, and then the source removes the person from a group → no command announces a removal, and sync writes none', async () => {
  await deleteByHand();
  await removeBobFrom('fin');
  for (const command of [
    ['plan', '--full'],
    ['sync', BOB, '--dry-run'],
    ['sync', 'fin', '--dry-run'],
  ])
    expect((await outcome(...command))[1]).not.toContain('removeMember');
  const [, explained] = await outcome('explain', BOB);
  expect(explained).toContain('Nothing is left to remove from fin: the membership ended with the account.');
  expect(explained).not.toContain('still to be left');
  const [code, text] = await outcome('sync', BOB);
  expect([code, text]).toEqual([0, expect.stringContaining('ops addMembers 1 member')]);
  expect((await outcome('log'))[1]).not.toContain('removeMembers');
  expect([await membersOf('fin'), await membersOf('ops')]).toEqual([[ANN], [ANN, BOB]]);
  expect(await place.platform.user(BOB)).toMatchObject({ active: true });
  expect((await outcome('status'))[1]).toContain('0 not applied yet');
}, 60_000);

test('the account of a person with a held removal is deleted at the platform → sync creates the account again and the guard holds nothing', async () => {
  await place.change(({ targets }) => {
    targets.main.guard = { removeMembers: { count: 0, percent: 0 } };
  });
  await removeBobFrom('fin');
  await place.idle();
  expect((await outcome('approvals', 'list'))[1]).toContain('1 to take out of groups');
  await deleteByHand();
  expect((await outcome('sync', BOB, '--dry-run'))[1]).not.toContain('removeMember');
  expect((await outcome('sync', BOB))[0]).toBe(0);
  expect((await outcome('approvals', 'list'))[1]).toContain('The guard holds nothing');
  expect([await membersOf('fin'), await membersOf('ops')]).toEqual([[ANN], [ANN, BOB]]);
}, 60_000);

test('the source deletes a group of a person whose account is gone → sync --dry-run of the person lists this deletion, and sync writes it', async () => {
  await deleteByHand();
  await place.idp.send('DELETE', `/Groups/${ids.fin}`);
  const [, dryRun] = await outcome('sync', BOB, '--dry-run');
  expect(dryRun).toContain('delete fin (');
  expect(dryRun).not.toContain('removeMember');
  const [code, text] = await outcome('sync', BOB);
  expect([code, text]).toEqual([0, expect.stringMatching(/main fin delete/)]);
  expect(await place.platform.group('fin')).toBeUndefined();
}, 60_000);
