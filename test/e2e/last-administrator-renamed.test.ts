// Tests the last active administrator whose account somebody renamed at the platform: it is not closed before its name is known.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { startFront, type Front } from '../support/front.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ADMIN = 'admin@acme.example';
const RENAMED = 'chief@acme.example';
const SECOND = 'second@acme.example';
const CLERK = 'clerk@acme.example';

let place: Place;
let front: Front;
let admin: string;
let clerk: string;
beforeEach(async () => {
  place = await openPlace({});
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  // The tenant does not tell who owns the key: the owner might be another administrator.
  front.answer = (_method, url) => (url.endsWith('/users/me') ? { status: 404, body: '{}' } : undefined);
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
  admin = await place.idp.createUser(ADMIN);
  clerk = await place.idp.createUser(CLERK);
  await place.idle();
}, 60_000);
afterEach(async () => {
  await place.stop();
  front.stop();
});

async function setActive(id: string, value: boolean): Promise<void> {
  await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value });
  await place.idle();
}
async function rename(from: string, to: string): Promise<void> {
  const { scimId } = (await place.platform.user(from)) ?? {};
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'userName', value: to });
}
const isActive = async (name: string): Promise<unknown> => (await place.platform.user(name))?.active;

test.each(['alone', 'after another person within a minute'])(
  'the only administrator, never checked before, is renamed by hand and then deactivated %s → the deactivation is held',
  async (state) => {
    await rename(ADMIN, RENAMED);
    // The check of a second deactivation within a minute reads the first page of the user list.
    if (state !== 'alone') await setActive(clerk, false);
    await setActive(admin, false);
    expect(await isActive(RENAMED)).toBe(true);
    expect((await place.commands.run('approvals', 'list')).text).toContain('1 to deactivate');
  },
  60_000,
);

test('the only two administrators are renamed by hand and then deactivated → one is closed, and the deactivation of the other is held', async () => {
  await place.platform.control('POST', '/fixtures', { users: [{ userName: SECOND, isAdmin: true }] });
  const second = await place.idp.createUser(SECOND);
  await place.idle();
  await rename(ADMIN, RENAMED);
  await rename(SECOND, 'deputy@acme.example');
  // The other order would close the owner of the key.
  await setActive(second, false);
  await setActive(admin, false);
  expect([await isActive('deputy@acme.example'), await isActive(RENAMED)]).toEqual([false, true]);
  expect((await place.commands.run('approvals', 'list')).text).toContain('1 to deactivate');
}, 60_000);

test.each(['read before', 'not read before'])(
  'the only administrator, known from an earlier check, is renamed by hand and then deactivated, with a user list %s → the deactivation is held',
  async (state) => {
    await setActive(admin, false);
    await setActive(admin, true);
    await rename(ADMIN, RENAMED);
    // The check of a second deactivation within a minute reads the first page of the user list.
    if (state === 'read before') await setActive(clerk, false);
    await setActive(admin, false);
    expect(await isActive(RENAMED)).toBe(true);
    expect((await place.commands.run('approvals', 'list')).text).toContain('1 to deactivate');
  },
  60_000,
);
