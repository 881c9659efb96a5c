// Tests that people and groups lose their access when the source deletes them while an operator, or a restore, has dropped their link.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place, type PlaceOptions } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
const open = async (options: PlaceOptions = {}): Promise<void> => {
  place = await openPlace(options);
};
afterEach(() => place.stop());

const { told, succeed } = commandsAt(() => place);
const activeOf = async (name: string) => (await place.platform.user(name))?.active;
/** Runs orders while the target is on hold, so that no sync comes between them. */
async function onHold(orders: () => Promise<unknown>): Promise<void> {
  await succeed('hold');
  await orders();
  await succeed('release');
  await place.idle();
}

for (const adopt of ['exact', 'report'])
  test(`under adopt: ${adopt} a person is deleted at the source after links forget → the account is closed`, async () => {
    await open({ target: { adopt } });
    const ann = await place.idp.createUser(ANN);
    await place.idle();
    await onHold(async () => {
      await succeed('links', 'forget', ANN);
      expect(await told('links', 'show', ANN)).toContain('not linked');
      await place.idp.send('DELETE', `/Users/${ann}`);
    });
    expect(await activeOf(ANN)).toBe(false);
    expect(await told('dead-letters', 'list')).not.toContain(ANN);
  }, 60_000);

test('a person is deleted after links forget, and the account was renamed by hand → a dead letter names the account until it is closed', async () => {
  await open();
  const ann = await place.idp.createUser(ANN, { externalId: undefined });
  await place.idle();
  const { scimId = '' } = (await place.platform.user(ANN)) ?? {};
  await onHold(async () => {
    await succeed('links', 'forget', ANN);
    await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'userName', value: BOB });
    await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'remove', path: 'externalId' });
    await place.idp.send('DELETE', `/Users/${ann}`);
  });
  expect(await activeOf(BOB)).toBe(true);
  expect(await told('dead-letters', 'list')).toContain(`the account that was ${ANN} is called ${BOB} now`);
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: false });
  await succeed('dead-letters', 'retry', `User:${ann}`);
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(ANN);
}, 60_000);

test('links forget --leave-account of a deleted person without a link leaves the account as it is', async () => {
  await open();
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await onHold(async () => {
    await succeed('links', 'forget', ANN);
    await place.idp.send('DELETE', `/Users/${ann}`);
    expect((await place.commands.run('links', 'forget', `User:${ann}`)).code).toBe(1);
    expect(await told('forget', ANN)).toMatch(/active/);
    await succeed('links', 'forget', `User:${ann}`, '--leave-account');
  });
  expect(await activeOf(ANN)).toBe(true);
}, 60_000);

/** Makes an account as a person does by hand. */
async function makeAccount(userName: string): Promise<void> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const answer = await fetch(`${platformUrl}/api/scim/v2/Users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName, active: true }),
  });
  expect(answer.status).toBe(201);
}

test('a person who was never synced is deleted at the source → an account with this userName is neither changed nor looked up', async () => {
  await open();
  await makeAccount(ANN);
  await succeed('hold');
  const ann = await place.idp.createUser(ANN);
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.platform.forgetRequests();
  await succeed('release');
  await place.idle();
  const asked = (await place.platform.requests()).filter(({ query }) => query.includes('filter'));
  expect(asked).toEqual([]);
  expect(await activeOf(ANN)).toBe(true);
}, 60_000);

test('a group is deleted at the source after links forget → the group is deleted at the platform', async () => {
  await open();
  const ann = await place.idp.createUser(ANN);
  const group = await place.idp.createGroup('analysts', [ann]);
  await place.idle();
  await onHold(async () => {
    await succeed('links', 'forget', `Group:${group}`);
    await place.idp.send('DELETE', `/Groups/${group}`);
  });
  expect(await place.platform.group('analysts')).toBeUndefined();
}, 60_000);

test('the source removes a person from a group after links forget of the person → the membership ends', async () => {
  await open({ target: { adopt: 'report' } });
  const ann = await place.idp.createUser(ANN);
  const group = await place.idp.createGroup('analysts', [ann]);
  await place.idle();
  await onHold(async () => {
    await succeed('links', 'forget', ANN);
    await place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ann}"]` });
  });
  expect((await place.platform.group('analysts'))?.members).toEqual([]);
}, 60_000);

const NO_GUESTS = { users: { scope: 'title ne "guest"' } };
const toGuest = (id: string) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'guest' });

const NO_EXTERNAL_ID = { externalId: undefined };

/** Restores a backup that was made before a person and her group were synced for the first time. The target is on hold. */
async function linkedAfterBackup(target: object = {}, names = {}): Promise<{ ann: string; group: string }> {
  await open({ ownRedis: true, target });
  await succeed('hold');
  const ann = await place.idp.createUser(ANN, names);
  const group = await place.idp.createGroup('analysts', [ann]);
  const file = join(place.commands.folder, 'old.backup');
  await succeed('backup', file);
  await succeed('release');
  await place.idle();
  expect(await activeOf(ANN)).toBe(true);
  await place.stopApps();
  await succeed('restore', file, '--replace', '--yes');
  await place.start();
  return { ann, group };
}

test('a person and a group are linked after a backup and deleted after its restore → the account is closed, and a dead letter names the group', async () => {
  const { ann, group } = await linkedAfterBackup();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idp.send('DELETE', `/Groups/${group}`);
  await succeed('release');
  await place.idle();
  expect(await activeOf(ANN)).toBe(false);
  expect(await told('dead-letters', 'list')).toContain('a group is called analysts, which may be this one');
}, 60_000);

test('a person who was linked after a backup goes out of scope after its restore → the account is closed', async () => {
  const { ann } = await linkedAfterBackup(NO_GUESTS);
  await toGuest(ann);
  await succeed('release');
  await place.idle();
  expect(await activeOf(ANN)).toBe(false);
}, 60_000);

test('after a restore a person goes out of scope under adopt: report → a dead letter asks about the account until links forget --leave-account', async () => {
  const { ann } = await linkedAfterBackup({ ...NO_GUESTS, adopt: 'report' }, NO_EXTERNAL_ID);
  await toGuest(ann);
  await succeed('release');
  await place.idle();
  await eventually('a dead letter asks', async () =>
    (await told('dead-letters', 'list')).includes(`User:${ann} is out of the scope of the target, and`),
  );
  await succeed('links', 'forget', `User:${ann}`, '--target', 'main', '--leave-account');
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(ann);
  expect(await activeOf(ANN)).toBe(true);
}, 60_000);

test('after a restore a person leaves under the policy upsert-only → no dead letter asks for the account to be closed', async () => {
  const { ann } = await linkedAfterBackup({ adopt: 'report', policy: 'upsert-only' }, NO_EXTERNAL_ID);
  await place.idp.send('DELETE', `/Users/${ann}`);
  await succeed('release');
  await place.idle();
  expect(await told('dead-letters', 'list')).not.toContain(ann);
  expect(await activeOf(ANN)).toBe(true);
}, 60_000);

test('links forget of a person out of scope → the closed account is not linked again', async () => {
  await open({ target: NO_GUESTS });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await toGuest(ann);
  await place.idle();
  expect(await activeOf(ANN)).toBe(false);
  await succeed('links', 'forget', ANN);
  await place.idle();
  expect(await told('links', 'show', ANN)).toContain('not linked');
}, 60_000);

test('a person who was never in scope has an unmanaged account → after a restore this account stays open, and a dead letter asks about it', async () => {
  await open({ ownRedis: true, target: NO_GUESTS });
  await makeAccount(BOB);
  await succeed('hold');
  const bob = await place.idp.createUser(BOB, { ...NO_EXTERNAL_ID, title: 'guest' });
  const file = join(place.commands.folder, 'guest.backup');
  await succeed('backup', file);
  await succeed('release');
  await place.idle();
  await place.stopApps();
  await succeed('restore', file, '--replace', '--yes');
  await place.start();
  await succeed('release');
  await eventually('a dead letter asks', async () =>
    (await told('dead-letters', 'list')).includes(`User:${bob} is out of the scope of the target, and`),
  );
  expect(await activeOf(BOB)).toBe(true);
}, 60_000);

test('under upsert-only a group is renamed by hand, and deleted at the source after links forget → no member waits for a removal from it', async () => {
  await open({ target: { policy: 'upsert-only' } });
  const ann = await place.idp.createUser(ANN);
  const group = await place.idp.createGroup('analysts', [ann]);
  await place.idle();
  const { scimId = '' } = (await place.platform.group('analysts')) ?? {};
  await onHold(async () => {
    await succeed('links', 'forget', `Group:${group}`);
    await byHand(place, 'PATCH', `/Groups/${scimId}`, {
      op: 'replace',
      path: 'displayName',
      value: 'others',
    });
    await place.idp.send('DELETE', `/Groups/${group}`);
  });
  const waiting = await place.redis.keys(`*:pendingGroups:main:${ann}`);
  expect(waiting).toEqual([]);
  expect((await place.platform.group('others'))?.members).toHaveLength(1);
}, 60_000);
