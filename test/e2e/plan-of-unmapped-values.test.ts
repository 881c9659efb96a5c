// Tests what plan and sync --dry-run promise for people with a value that cannot be mapped: no activation, no membership.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { scimPatch } from '../support/reconciling.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BAD = 'bad@acme.example';
const CYD = 'cyd@acme.example';

let place: Place;
let cyd = '';
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { level: { type: 'number', from: 'title' } } } });
  cyd = await place.idp.createUser(CYD, { title: '3' });
  await place.idp.createGroup('analysts', [cyd]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);

/** Changes something at the platform as somebody else. */
async function meddle(path: string, ...operations: object[]): Promise<void> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  await fetch(`${platformUrl}/api/scim/v2/${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify(scimPatch(...operations)),
  });
}

const membersOf = async (group: string) =>
  (await place.platform.state()).groups.find(({ displayName }) => displayName === group)?.members;

test('a value of a new person cannot be mapped → plan shows an inactive account without groups, as the sync writes it', async () => {
  await place.commands.run('hold', '--by', 'olga');
  const bad = await place.idp.createUser(BAD, { title: 'high' });
  await place.idp.createGroup('writers', [bad]);
  const plan = await told('plan');
  const dryRun = await told('sync', BAD, '--dry-run');
  await place.commands.run('release');
  await place.idle();
  expect((await place.platform.user(BAD))?.active).toBe(false);
  expect(await membersOf('writers')).toEqual([]);
  expect(plan).toContain(`+ create user ${BAD} has no account yet; activation waits for the value`);
  expect(plan).toContain('active: false');
  expect(plan).not.toContain('active: true');
  expect(plan).not.toContain('addMember person');
  expect(plan).toContain('activation and memberships wait for the value');
  expect(dryRun).not.toContain('active: null → true');
  expect(dryRun).not.toContain(`would write: addMember`);
}, 30_000);

test('a value of a dead letter cannot be mapped → plan lists no reactivation and no membership', async () => {
  await place.idp.patch(`/Users/${cyd}`, { op: 'replace', path: 'title', value: 'high' });
  await place.idle();
  await eventually('refused', async () => (await told('dead-letters', 'list')).includes(CYD));
  const { users, groups } = await place.platform.state();
  const account = users.find(({ userName }) => userName === CYD)?.scimId;
  const group = groups.find(({ displayName }) => displayName === 'analysts')?.scimId;
  await meddle(`Users/${account}`, { op: 'replace', path: 'active', value: false });
  await meddle(`Groups/${group}`, { op: 'remove', path: `members[value eq "${account}"]` });
  const { text } = await place.commands.run('plan', '--full');
  const dryRun = await told('sync', CYD, '--dry-run');
  await place.commands.run('reconcile', '--full');
  await place.idle();
  expect((await place.platform.user(CYD))?.active).toBe(false);
  expect(await membersOf('analysts')).toEqual([]);
  expect(text).not.toContain('+ activate');
  expect(text).not.toContain('+ addMember');
  expect(dryRun).not.toContain('would write');
}, 30_000);

test('the source corrects a value that could not be mapped → plan lists the activation, and reconcile writes it with the membership', async () => {
  await place.commands.run('hold', '--by', 'olga');
  await place.idp.patch(`/Users/${cyd}`, { op: 'replace', path: 'title', value: '4' });
  const plan = await told('plan');
  expect(plan).toContain('1 to activate');
  expect(plan).toContain(`+ activate user ${CYD}`);
  expect(await told('sync', CYD, '--dry-run')).toContain(` activate ${CYD}`);
  await place.commands.run('release', '--by', 'olga');
  await place.idle();
  await place.commands.run('reconcile', '--full');
  await place.idle();
  expect((await place.platform.user(CYD))?.active).toBe(true);
  expect(await membersOf('analysts')).toHaveLength(1);
}, 30_000);
