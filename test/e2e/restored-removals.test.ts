// Tests that what a restore leaves of groups and memberships ends right when the source deletes them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { byHand, createByHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
afterEach(() => place.stop());

const { told, succeed } = commandsAt(() => place);
const membersOf = async (name: string) => (await place.platform.group(name))?.members;

/** Restores a backup that was made before two persons and their group were synced for the first time. The target is on hold. */
async function linkedAfterBackup(
  target: object = {},
  names = {},
): Promise<Record<'ann' | 'bob' | 'group', string>> {
  place = await openPlace({ ownRedis: true, target });
  await succeed('hold');
  const ann = await place.idp.createUser(ANN, names);
  const bob = await place.idp.createUser(BOB, names);
  const group = await place.idp.createGroup('analysts', [ann, bob]);
  const file = join(place.commands.folder, 'old.backup');
  await succeed('backup', file);
  await succeed('release');
  await place.idle();
  expect(await membersOf('analysts')).toEqual([ANN, BOB]);
  await place.stopApps();
  await succeed('restore', file, '--replace', '--yes');
  await place.start();
  return { ann, bob, group };
}

test('a group that was created after the restored backup is deleted at the source → the dead letter ends once its members are removed at the platform', async () => {
  const { group } = await linkedAfterBackup();
  await place.idp.send('DELETE', `/Groups/${group}`);
  await succeed('release');
  await place.idle();
  // A reconcile may be retrying it.
  await eventually('a dead letter asks', async () =>
    (await told('dead-letters', 'list')).includes('a group is called analysts, which may be this one'),
  );
  const { scimId = '' } = (await place.platform.group('analysts')) ?? {};
  await byHand(place, 'PATCH', `/Groups/${scimId}`, { op: 'remove', path: 'members' });
  // A reconcile may have retried it already.
  await place.commands.run('dead-letters', 'retry', `Group:${group}`);
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(group);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(group);
}, 60_000);

test('a group that was created after the restored backup is deleted at the source → links forget ends the dead letter and leaves the group', async () => {
  const { group } = await linkedAfterBackup();
  await place.idp.send('DELETE', `/Groups/${group}`);
  await succeed('release');
  await place.idle();
  await succeed('links', 'forget', `Group:${group}`, '--target', 'main', '--leave-account');
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(group);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(group);
  expect(await membersOf('analysts')).toEqual([ANN, BOB]);
}, 60_000);

test('a restore lost the links of a group and its member → the source removes the member, and the membership ends', async () => {
  const { ann, group } = await linkedAfterBackup();
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  await succeed('release');
  await place.idle();
  await eventually(
    'the membership ends',
    async () => JSON.stringify(await membersOf('analysts')) === JSON.stringify([BOB]),
    10_000,
  );
}, 60_000);

/** Restores a backup that was made before Ann joined a group, which is linked, and was synced for the first time. Her link is lost. */
async function joinedAfterBackup(): Promise<Record<'ann' | 'group', string>> {
  const bob = await place.idp.createUser(BOB);
  const group = await place.idp.createGroup('analysts', [bob]);
  await place.idle();
  await succeed('hold');
  const ann = await place.idp.createUser(ANN);
  await place.idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: ann }] });
  const file = join(place.commands.folder, 'old.backup');
  await succeed('backup', file);
  await succeed('release');
  await place.idle();
  expect((await membersOf('analysts'))?.toSorted()).toEqual([ANN, BOB]);
  await place.stopApps();
  await succeed('restore', file, '--replace', '--yes');
  return { ann, group };
}

const setAdopt = (adopt: string) =>
  place.change(({ targets }) => {
    Object.assign(targets.main, { adopt });
  });

async function takenOutAfterRestore(adopt: string): Promise<string> {
  place = await openPlace({ ownRedis: true, target: { adopt } });
  const { ann, group } = await joinedAfterBackup();
  await place.start();
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  await succeed('release');
  await place.idle();
  return ann;
}

test('a restore lost the link of a member of a linked group → the source removes the member, and the membership ends', async () => {
  await takenOutAfterRestore('exact');
  expect(await membersOf('analysts')).toEqual([BOB]);
}, 60_000);

test('a restore lost the link of a member, whose account is adopted only after the source removed the member → the membership ends then', async () => {
  const ann = await takenOutAfterRestore('report');
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  await setAdopt('exact');
  await place.commands.run('dead-letters', 'retry', `User:${ann}`);
  await place.idle();
  expect(await membersOf('analysts')).toEqual([BOB]);
}, 60_000);

/**
 * Deletes an adopted group at the source after a restore has lost the link of its member Ann. The account of Ann is not adopted, so
 * the group is a dead letter.
 */
async function deletedAdoptedGroup(): Promise<Record<'ann' | 'group', string>> {
  place = await openPlace({ ownRedis: true });
  await createByHand(place, 'Groups', { displayName: 'analysts' });
  const { ann, group } = await joinedAfterBackup();
  await setAdopt('report');
  await place.idp.send('DELETE', `/Groups/${group}`);
  await succeed('release');
  await place.idle();
  expect(await membersOf('analysts')).toEqual([ANN]);
  expect(await told('dead-letters', 'list')).toContain(`links forget Group:${group}`);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  return { ann, group };
}

test('a restore lost the link of a member and an adopted group is deleted at the source → the membership ends when the account is adopted', async () => {
  const { ann, group } = await deletedAdoptedGroup();
  await setAdopt('exact');
  await place.commands.run('dead-letters', 'retry', `User:${ann}`);
  await place.idle();
  expect(await membersOf('analysts')).toEqual([]);
  expect(await told('dead-letters', 'list')).not.toContain(group);
}, 60_000);

test('a restore lost the link of a member and an adopted group is deleted at the source → the membership ends when links import restores the link', async () => {
  const { ann, group } = await deletedAdoptedGroup();
  const rows = join(place.commands.folder, 'links.jsonl');
  const platformId = (await place.platform.user(ANN))?.scimId;
  const row = { connection: 'default', target: 'main', kind: 'User', ref: `User:${ann}`, platformId };
  writeFileSync(rows, `${JSON.stringify(row)}\n`);
  await succeed('links', 'import', rows);
  await place.idle();
  expect(await membersOf('analysts')).toEqual([]);
  expect(await told('dead-letters', 'list')).not.toContain(group);
}, 60_000);

test('a restore lost the link of a deleted member whose account is gone, and the adopted group is deleted → the dead letter of the group ends', async () => {
  const { ann, group } = await deletedAdoptedGroup();
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(ANN))?.scimId}`);
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(group);
}, 60_000);

test('a backup was made before the create of an account was answered → after its restore the source removes the person from a group, and the membership ends', async () => {
  place = await openPlace({ ownRedis: true });
  const { platform } = place;
  const setFaults = (...rules: object[]) => platform.control('PATCH', '/faults', { rules });
  const bob = await place.idp.createUser(BOB);
  const group = await place.idp.createGroup('analysts', [bob]);
  await place.idle();
  await setFaults(
    { method: 'POST', path: '/Users$', dropAfter: true, times: 1 },
    { method: 'POST', path: '/Users$', status5xx: true },
  );
  const ann = await place.idp.createUser(ANN);
  await place.idp.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: ann }] });
  await eventually('the account is made', async () => (await platform.user(ANN)) !== undefined);
  await succeed('hold');
  await place.stopApps();
  const file = join(place.commands.folder, 'old.backup');
  await succeed('backup', file);
  await setFaults();
  await place.start();
  await succeed('release');
  await place.idle();
  expect((await membersOf('analysts'))?.toSorted()).toEqual([ANN, BOB]);
  await place.stopApps();
  await succeed('restore', file, '--replace', '--yes');
  await place.start();
  await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  // The group is synced before the person.
  await setFaults({ method: 'GET', path: '/Users', status5xx: true });
  await succeed('release');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await setFaults();
  await place.idle();
  expect(await membersOf('analysts')).toEqual([BOB]);
}, 60_000);
