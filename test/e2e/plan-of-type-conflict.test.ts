// Tests what plan and sync --dry-run promise for people with an attribute that the platform defines with another type: no
// activation and no membership, but every removal.
import '../support/load-modules.ts';
import { atPlatform } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { scimPatch } from '../support/reconciling.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const CYD = 'cyd@acme.example';
const DAN = 'dan@acme.example';

let place: Place;
let bob = '';
beforeAll(async () => {
  place = await openPlace({
    target: {
      attributes: { level: { type: 'number', from: 'title', onEmpty: 'keep' } },
      groups: { members: 'authoritative' },
    },
  });
  await atPlatform(place, 'POST', '/api/v1/user-attributes', { name: 'level', type: 'string' });
  bob = await place.idp.createUser(BOB);
  await place.idp.createGroup('analysts', [bob]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);

const membersOf = async (group: string) =>
  (await place.platform.state()).groups.find(({ displayName }) => displayName === group)?.members;

test('an attribute has another type at the platform → plan shows a new person with its value as an inactive account without groups', async () => {
  await place.commands.run('hold', '--by', 'olga');
  const ann = await place.idp.createUser(ANN, { title: '3' });
  await place.idp.createGroup('writers', [ann]);
  const plan = await told('plan');
  const dryRun = await told('sync', ANN, '--dry-run');
  await place.commands.run('release');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
  expect(await membersOf('writers')).toEqual([]);
  expect(plan).toContain(`+ create user ${ANN} has no account yet; activation waits for the value`);
  expect(plan).not.toContain('active: true');
  expect(plan).not.toContain('addMember person');
  expect(dryRun).not.toContain('active: null → true');
  expect(dryRun).not.toContain('would write: addMember');
}, 30_000);

test('an attribute of a dead letter has another type at the platform → plan lists no reactivation and no membership', async () => {
  await eventually('refused', async () => (await told('dead-letters', 'list')).includes(ANN));
  const { text } = await place.commands.run('plan', '--full');
  const dryRun = await told('sync', ANN, '--dry-run');
  await place.commands.run('reconcile', '--full');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
  expect(text).toContain('is string at the platform and number in the mapping');
  expect(text).not.toContain('+ reactivate');
  expect(text).not.toContain('+ addMember');
  expect(text).not.toContain(' change.');
  expect(dryRun).toContain('waits for the value that cannot be written');
  expect(dryRun).not.toContain('would write');
}, 30_000);

test("an attribute has another type at the platform → plan still lists the person's deactivation, and the removal of a member added by hand", async () => {
  const cyd = await place.idp.createUser(CYD);
  await place.idle();
  const { users, groups } = await place.platform.state();
  const account = users.find(({ userName }) => userName === BOB)?.scimId;
  const writers = groups.find(({ displayName }) => displayName === 'writers')?.scimId;
  await place.commands.run('hold', '--by', 'olga');
  for (const id of [bob, cyd])
    await place.idp.patch(
      `/Users/${id}`,
      { op: 'replace', path: 'title', value: '4' },
      { op: 'replace', path: 'active', value: false },
    );
  await atPlatform(
    place,
    'PATCH',
    `/api/scim/v2/Groups/${writers}`,
    scimPatch({ op: 'add', path: 'members', value: [{ value: account }] }),
  );
  const plan = await told('plan', '--full');
  await place.commands.run('release');
  await place.idle();
  await place.commands.run('reconcile', '--full');
  await place.idle();
  expect(plan).toContain(`- deactivate user ${BOB}`);
  expect(plan).toContain(`- deactivate user ${CYD}`);
  expect((await place.platform.user(BOB))?.active).toBe(false);
  expect((await place.platform.user(CYD))?.active).toBe(false);
  expect(plan).toContain(`- removeMember`);
  expect(await membersOf('writers')).toEqual([]);
}, 30_000);

test('a new attribute has another type at the platform → a reconcile makes a person with a closed account a dead letter', async () => {
  await place.idp.createUser(DAN, { nickName: '7' });
  await place.idle();
  await atPlatform(place, 'POST', '/api/v1/user-attributes', { name: 'team', type: 'string' });
  const { users } = await place.platform.state();
  const account = users.find(({ userName }) => userName === DAN)?.scimId;
  await atPlatform(
    place,
    'PATCH',
    `/api/scim/v2/Users/${account}`,
    scimPatch({ op: 'replace', path: 'active', value: false }),
  );
  await place.change(({ targets }) => {
    Object.assign(targets.main?.attributes ?? {}, {
      team: { type: 'number', from: 'nickName', onEmpty: 'keep' },
    });
  });
  await place.commands.run('reconcile');
  await place.idle();
  expect(await told('dead-letters', 'list')).toContain(DAN);
  expect((await place.platform.user(DAN))?.active).toBe(false);
}, 30_000);

test('while an attribute has another type at the platform, status says that no reconcile applies new settings to all people', async () => {
  await place.change(({ targets: { main } }) => {
    main.attributes = {};
  });
  await place.commands.run('reconcile', '--yes');
  await place.change(({ targets: { main } }) => {
    main.attributes = { level: { type: 'number', from: 'title', onEmpty: 'keep' } };
  });
  for (let runs = 0; runs < 2; runs++) {
    await place.commands.run('reconcile', '--yes');
    expect(await told('status')).toContain(
      'since a reconcile last brought them to everybody: the counts may be by the former settings. scim-bridge reconcile brings the new ones, except while an attribute has another type at the platform, or while a process of the service runs with other settings',
    );
  }
  await place.change(({ targets: { main } }) => {
    main.attributes = { level: { type: 'string', from: 'title', onEmpty: 'keep' } };
  });
  await place.commands.run('reconcile', '--yes');
  expect(await told('status')).not.toContain('brought them to everybody');
}, 60_000);
