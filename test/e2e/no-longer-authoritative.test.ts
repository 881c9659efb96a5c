// Tests the held removals of members whom somebody added by hand, after `groups.members` changes from authoritative (the bridge
// removes such members) to owned (it leaves them): no such member is removed, also not by an approval.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
/** An account that the sandbox has at its start. No identity provider has pushed it. */
const VIEWER = 'viewer@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    target: {
      groups: { members: 'authoritative' },
      guard: { removeMembers: { count: 0, percent: 0 } },
    },
  });
  const ann = await place.idp.createUser(ANN);
  await place.idp.createUser(BOB);
  await place.idp.createGroup('crew', [ann]);
  await place.idle();
  const accounts = [await place.platform.user(BOB), await place.platform.user(VIEWER)];
  await byHand(place, 'PATCH', `/Groups/${(await place.platform.group('crew'))?.scimId}`, {
    op: 'add',
    path: 'members',
    value: accounts.map((account) => ({ value: account?.scimId })),
  });
  await place.commands.run('reconcile', '--yes');
  await place.change(({ targets }) => Object.assign(targets.main ?? {}, { groups: { members: 'owned' } }));
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);
const approvalId = async (): Promise<string> =>
  (await place.commands.run('approvals', 'list', '--json')).json[0].id;

test('groups.members becomes owned while removals are held → plan, exceptions, explain and approvals show say that the next reconcile judges these anew', async () => {
  const shown = ['approvals', 'show', await approvalId()];
  for (const command of [['plan'], ['exceptions'], ['explain', 'crew'], shown])
    expect(await told(...command)).toContain(
      'the settings have changed since the guard held it: the next reconcile, or scim-bridge sync, judges it anew',
    );
});

test('groups.members becomes owned while removals are held → after a reconcile only the removal of the managed person is still held', async () => {
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  const shown = await told('approvals', 'show', await approvalId());
  expect(shown).toContain(`${BOB} leaves crew`);
  expect(shown).not.toContain(VIEWER);
});

test('groups.members is owned now, and the held removal of a managed person is approved → this person leaves the group, and an unmanaged account stays', async () => {
  await place.commands.run('approvals', 'approve', await approvalId(), '--yes');
  await place.idle();
  expect((await place.platform.group('crew'))?.members).toEqual([ANN, VIEWER]);
  expect(await told('exceptions')).toBe('No exceptions.');
});

test('the removal of an unmanaged member is held, and groups.members becomes owned → approve says that the removal is no longer wanted, and the member stays', async () => {
  const membersOf = (members: string): Promise<void> =>
    place.change(({ targets }) => Object.assign(targets.main ?? {}, { groups: { members } }));
  await membersOf('authoritative');
  await place.commands.run('reconcile', '--yes');
  await membersOf('owned');
  expect(await told('approvals', 'approve', await approvalId(), '--yes')).toContain(
    'a change that the present settings do not want is not written',
  );
  await place.idle();
  expect((await place.platform.group('crew'))?.members).toEqual([ANN, VIEWER]);
  expect(await told('exceptions')).toBe('No exceptions.');
});
