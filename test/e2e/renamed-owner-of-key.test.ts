// Tests that the owner of the platform key is recognised after somebody has renamed the account at the platform.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const OWNER = 'owner@acme.example';
const RENAMED = 'renamed@acme.example';

let place: Place;
beforeEach(async () => {
  place = await openPlace({
    before: (platform) =>
      platform.control('POST', '/fixtures', { users: [{ userName: OWNER, isAdmin: true }] }),
  });
}, 30_000);
afterEach(() => place.stop());

/** Restarts the service with a key of this account. */
async function giveKeyTo(owner: string): Promise<void> {
  const made = await place.platform.control('POST', '/fixtures', { apiKeys: [{ name: 'bridge', owner }] });
  const file = join(place.commands.folder, 'key');
  writeFileSync(file, (made as { apiKeys: { key: string }[] }).apiKeys[0]?.key ?? '', { mode: 0o600 });
  await place.change(({ targets: { main } }) => {
    main.token = `\${file:${file}}`;
  });
}

/** Renames the owner at the platform, and forgets the requests. */
async function rename(): Promise<void> {
  const owner = await place.platform.user(OWNER);
  const operation = { op: 'replace', path: 'userName', value: RENAMED };
  await byHand(place, 'PATCH', `/Users/${owner?.scimId}`, operation);
  await place.platform.forgetRequests();
}

const changes = async () => (await place.platform.writes()).filter(({ method }) => method !== 'HEAD');

test('somebody renames the owner of the platform key, the service restarts, and the person leaves → the account stays active and keeps its new name', async () => {
  const id = await place.idp.createUser(OWNER);
  await place.idle();
  await giveKeyTo(OWNER);
  await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Olga' });
  await place.idle();
  await rename();
  await place.stopApps();
  await place.start();
  const [found] = (await place.commands.run('explain', OWNER, '--json')).json;
  expect(found.condition).toEqual(expect.objectContaining({ reason: 'Protected' }));
  expect(found.condition.message).not.toContain('another owner');
  expect((await place.commands.run('reconcile', '--full', '--yes')).code).toBe(0);
  await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  expect(await place.platform.user(RENAMED)).toMatchObject({ active: true });
  await place.idp.send('DELETE', `/Users/${id}`);
  await place.idle();
  expect((await place.commands.run('reconcile', '--yes')).code).toBe(0);
  expect(await place.platform.user(RENAMED)).toMatchObject({ active: true });
  expect(await changes()).toEqual([]);
}, 60_000);

test('somebody renames the owner of the platform key while the service runs, and a person of the new name is pushed → the account is not taken over', async () => {
  await giveKeyTo(OWNER);
  // The first account that is made after the start makes the process read the owner of the key.
  await place.idp.createUser('bob@acme.example');
  await place.idle();
  await rename();
  await place.idp.createUser(RENAMED);
  await place.idle();
  expect((await place.commands.run('dead-letters', 'list')).text).toContain(
    'the account owns the platform key',
  );
  expect(await changes()).toEqual([]);
}, 60_000);
