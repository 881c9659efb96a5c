// Tests what the commands tell of a group that others made at the platform: in place of a linked group that they deleted, or before the
// source pushed a group of this name.
import '../support/load-modules.ts';
import { byHand, createByHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
afterEach(() => place.stop());

/** Opens a place with ann and bob in the group Lab; ann is the only member of the group that was made anew by hand. */
async function openRemade(target: object): Promise<void> {
  place = await openPlace({ target });
  const ids = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
  await place.idp.createGroup('Lab', ids);
  await place.idle();
  await byHand(place, 'DELETE', `/Groups/${(await place.platform.group('Lab'))?.scimId}`);
  const members = [{ value: (await place.platform.user(ANN))?.scimId }];
  await createByHand(place, 'Groups', { displayName: 'Lab', members });
}

const { told } = commandsAt(() => place);

test('somebody recreates a group at the platform with one of its two members → explain and sync --dry-run announce the new link, and sync adds only the missing member', async () => {
  await openRemade({ adopt: 'exact' });
  for (const command of [
    ['sync', ANN, '--dry-run'],
    ['explain', ANN],
  ]) {
    const text = await told(...command);
    expect(text).toContain('the one that carries its name is taken over');
    expect(text).not.toMatch(/member at the source|addMember|unmanaged|does not manage/);
  }
  for (const command of [
    ['sync', BOB, '--dry-run'],
    ['explain', BOB],
  ])
    expect(await told(...command)).toContain('member at the source; the group is linked anew');
  await place.platform.forgetRequests();
  await told('sync', ANN);
  const bob = (await place.platform.user(BOB))?.scimId;
  const added = (await place.platform.writes())
    .filter(({ status }) => status === 200)
    .map(({ body }) => body.Operations);
  expect(added).toEqual([[expect.objectContaining({ op: 'add', value: [{ value: bob }] })]]);
  expect((await place.platform.group('Lab'))?.members.toSorted()).toEqual([ANN, BOB]);
}, 60_000);

test('somebody recreates a group at the platform under adopt: report → explain and sync of a member say that a person has to act', async () => {
  await openRemade({ adopt: 'report' });
  const why = 'a group of this name exists and adopt is report';
  const explained = await told('explain', BOB);
  expect(explained).toContain('no run brings it before a person has acted');
  expect(explained).toContain(why);
  expect(await told('sync', BOB, '--dry-run')).toContain(
    `addMember ${BOB} in Lab (member at the source; waits for the group, which needs a person)`,
  );
  const { code, text } = await place.commands.run('sync', BOB);
  expect([code, text.replaceAll(/\s+/g, ' ')]).toEqual([
    1,
    expect.stringMatching(`needs a person: the membership in Lab is not written: .*${why}`),
  ]);
}, 60_000);

test('a pushed group has the name of an unmanaged group under adopt: report → plan lists the memberships that wait for the group', async () => {
  place = await openPlace({ target: { adopt: 'report' } });
  await createByHand(place, 'Groups', { displayName: 'Hand' });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.createGroup('Hand', [ann]);
  await place.idle();
  const plan = await told('plan');
  expect(plan).toContain('1 exception and 1 difference that no run changes');
  expect(plan).toContain(
    `Person ${ANN} in Hand: addMember, member at the source; waits for the group, which needs a person`,
  );
}, 60_000);
