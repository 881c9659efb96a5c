// Tests what plan, sync and reconcile do for people whose value is lost, because somebody deleted the definition of its attribute
// and created it with another type. An operator has to mend the definition. Until then a reconcile opens no account and adds no
// membership of these people unless the source has pushed it.
import '../support/load-modules.ts';
import { byHand, remakeDefinition } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ann = '';
let bob = '';
beforeAll(async () => {
  place = await openPlace({
    target: {
      attributes: {
        level: { type: 'number', from: 'title', onEmpty: 'keep' },
        team: { type: 'string', from: 'nickName', onEmpty: 'keep' },
      },
    },
  });
  ann = await place.idp.createUser(ANN, { title: '3', nickName: 'sales' });
  bob = await place.idp.createUser(BOB, { title: '4', nickName: 'sales' });
  await place.idp.createGroup('analysts', [ann, bob]);
  await place.idle();
  await remakeDefinition(place, 'level', 'string');
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);

const membersOf = async (group: string) =>
  (await place.platform.state()).groups.find(({ displayName }) => displayName === group)?.members;

const accountOf = async (userName: string) =>
  (await place.platform.state()).users.find((user) => user.userName === userName)?.scimId ?? '';

test('an attribute definition is recreated with another type → plan and sync --dry-run list a pushed membership of the person, and the worker writes it', async () => {
  await place.commands.run('hold', '--by', 'olga');
  await place.idp.createGroup('writers', [ann]);
  const plan = await told('plan', '--full');
  const drift = await told('plan', '--full', '--drift-only');
  const dryRun = await told('sync', ANN, '--dry-run');
  await place.commands.run('release');
  await place.idle();
  expect(await membersOf('writers')).toEqual([ANN]);
  expect(drift).toContain('Attribute level: conflict');
  expect(plan).toContain(`+ addMember`);
  expect(plan).toContain('is string at the platform and number in the mapping');
  expect(plan).not.toContain('waits for the value');
  expect(dryRun).toContain('would write: addMember');
}, 30_000);

test('an attribute definition is recreated with another type → a reconcile repairs other values, and leaves a closed account and a lost membership as they are', async () => {
  const writers = (await place.platform.state()).groups.find(({ displayName }) => displayName === 'analysts');
  await byHand(place, 'PATCH', `/Groups/${writers?.scimId}`, {
    op: 'remove',
    path: `members[value eq "${await accountOf(BOB)}"]`,
  });
  await byHand(place, 'PATCH', `/Users/${await accountOf(BOB)}`, {
    op: 'replace',
    value: { active: false, displayName: 'Other' },
  });
  await place.commands.run('reconcile', '--full');
  await place.idle();
  expect(await place.platform.user(BOB)).toMatchObject({
    active: false,
    displayName: `Jo ${BOB}`,
    attributes: { team: 'sales' },
  });
  expect(await membersOf('analysts')).toEqual([ANN]);
  expect(await told('dead-letters', 'list')).not.toContain(BOB);
  const plan = await told('plan', '--full');
  expect(plan).toContain('is string at the platform and number in the mapping');
  expect(plan).toContain('waits for the value that is lost and cannot be written again');
  expect(plan).toContain('nothing to write');
}, 30_000);

test('an attribute definition is recreated with another type → plan lists a pushed activation of the person, and the worker writes it', async () => {
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await place.commands.run('hold', '--by', 'olga');
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: true });
  const plan = await told('plan', '--full');
  await place.commands.run('release');
  await place.idle();
  expect((await place.platform.user(BOB))?.active).toBe(true);
  expect(plan).toContain(`+ activate user ${BOB}`);
  expect(plan).not.toContain(`${BOB}: activate`);
}, 30_000);

test('an account is created again while an attribute has another type at the platform → the new account stays inactive', async () => {
  // The worker keeps the definitions that it has read for ten minutes.
  await place.change(() => undefined);
  await byHand(place, 'DELETE', `/Users/${await accountOf(ANN)}`);
  const plan = await told('plan', '--full');
  await place.commands.run('reconcile', '--full');
  await place.idle();
  expect(plan).toContain('activation waits for the value');
  expect((await place.platform.user(ANN))?.active).toBe(false);
  expect(await membersOf('writers')).toEqual([]);
}, 30_000);
