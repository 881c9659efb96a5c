// Tests that the owner of a new API key is protected from the first sync on, although the account was linked before.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const OWNER = 'owner@acme.example';
const LATER = 'later@acme.example';
const OTHER = 'other@acme.example';

let place: Place;
const ids = new Map<string, string>();
const keys = new Map<string, string>();
beforeAll(async () => {
  const people = [OWNER, LATER, OTHER];
  place = await openPlace({
    before: (platform) =>
      platform.control('POST', '/fixtures', {
        users: people.map((userName) => ({ userName, isAdmin: true })),
      }),
  });
  for (const owner of [OWNER, LATER]) {
    const made = await place.platform.control('POST', '/fixtures', { apiKeys: [{ name: owner, owner }] });
    keys.set(owner, (made as { apiKeys: { key: string }[] }).apiKeys[0]?.key ?? '');
  }
  for (const name of people) ids.set(name, await place.idp.createUser(name));
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const leave = (name: string) =>
  place.idp.patch(`/Users/${ids.get(name)}`, { op: 'replace', path: 'active', value: false });
const isActive = async (name: string) => (await place.platform.user(name))?.active;
const keyFile = () => join(place.commands.folder, 'key');

test('the key now belongs to another account → the first sync after the restart does not deactivate that account', async () => {
  writeFileSync(keyFile(), keys.get(OWNER) ?? '', { mode: 0o600 });
  await place.change(({ targets: { main } }) => {
    main.token = `\${file:${keyFile()}}`;
  });
  await leave(OWNER);
  await place.idle();
  expect(await isActive(OWNER)).toBe(true);
  const explained = await place.commands.run('explain', OWNER, '--json');
  expect(explained.json).toMatchObject([
    { summary: expect.stringMatching(/owner of the platform key.*so it stays active although the person/) },
  ]);
}, 30_000);

test('the key file is replaced by a key of another account → that account is protected without a restart', async () => {
  writeFileSync(keyFile(), keys.get(LATER) ?? '');
  // The service reads the file every two seconds.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await leave(LATER);
  await place.idle();
  expect(await isActive(LATER)).toBe(true);
  await leave(OTHER);
  await place.idle();
  expect(await isActive(OTHER)).toBe(false);
}, 30_000);

test('the source renames the owner of the key → the account keeps its name', async () => {
  await place.idp.patch(`/Users/${ids.get(LATER)}`, {
    op: 'replace',
    path: 'userName',
    value: 'new-name@acme.example',
  });
  await place.idle();
  expect(await isActive(LATER)).toBe(true);
  const [explained] = (await place.commands.run('explain', 'new-name@acme.example', '--json')).json;
  expect(explained.condition).toMatchObject({
    reason: 'Protected',
    message: expect.stringContaining('a bridge that changed its own key'),
  });
  // The owner of the first key is protected no more.
  const planned = (await place.commands.run('plan')).text;
  expect(planned).toContain('1 change. 1 to deactivate.');
  expect(planned).toContain(`deactivate user ${OWNER}`);
  expect(planned).toContain('inactive at the source, active at the platform (not applied)');
}, 30_000);

test('the owner of the key leaves after a restart while the platform does not name the owner → the account stays active', async () => {
  await place.stopApps();
  await place.platform.control('PATCH', '/faults', { rules: [{ path: '/users/me$', status5xx: 1 }] });
  await place.start();
  await place.platform.forgetRequests();
  await place.idp.send('DELETE', `/Users/${ids.get(LATER)}`);
  await eventually('the sync waits', async () => {
    const asked = (await place.platform.requests()).some(({ path }) => path.endsWith('/users/me'));
    const [{ mark, condition }] = (await place.commands.run('explain', `User:${ids.get(LATER)}`, '--json'))
      .json;
    const isUntold = condition.message.includes('waits until the platform tells again whose key it is');
    return asked && isUntold && mark?.state === 'due' && Date.parse(mark.nextTry) > Date.now();
  });
  const ran = await place.commands.run('reconcile', '--yes');
  expect(ran.text).toContain('1 change not applied yet, tried again and again: later@acme.example, owner of');
  expect(await isActive(LATER)).toBe(true);
  await place.platform.control('PATCH', '/faults', {});
  await place.stopApps();
  await place.start();
  await place.idle();
  expect(await isActive(LATER)).toBe(true);
}, 60_000);
