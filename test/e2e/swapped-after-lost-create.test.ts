// Tests two resources whose names the source swaps while the answer of the create of one of them is lost: each gets its new name.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const LONG_MS = 40_000;

let place: Place;
beforeEach(async () => {
  place = await openPlace({});
}, 30_000);
afterEach(() => place.stop());

const lettersOf = async (): Promise<unknown> =>
  (await place.commands.run('dead-letters', 'list', '--json')).json;

/**
 * Creates a resource without receiving the answer, then lets the source swap names while no worker runs. Afterwards the platform
 * works again.
 */
async function swapAfterLostCreate(
  path: 'Users' | 'Groups',
  create: () => Promise<string>,
  swap: (created: string) => Promise<unknown>,
): Promise<void> {
  const { platform } = place;
  await platform.control('PATCH', '/faults', {
    rules: [
      { method: 'POST', path: `/${path}$`, dropAfter: true, times: 1 },
      // The first look-up finds nothing, so that the create follows.
      { method: 'GET', path: `/scim/v2/${path}`, skip: 1, status5xx: true },
      { method: 'PATCH', status5xx: true },
    ],
  });
  await platform.forgetRequests();
  const created = await create();
  await eventually('a look-up after the create failed', async () =>
    (await platform.requests()).some(({ method, status }) => method === 'GET' && status === 503),
  );
  await place.stopApps();
  await place.start('api');
  await swap(created);
  await platform.control('PATCH', '/faults', {});
  await place.start('worker');
}

test('a group whose create got no answer swaps names with another group → each has its own members under its new name', async () => {
  const { idp, platform } = place;
  const ann = await idp.createUser('ann@acme.example');
  const bob = await idp.createUser('bob@acme.example');
  const other = await idp.createGroup('N2', [ann]);
  await place.idle();
  const rename = (id: string, value: string) =>
    place.idp.patch(`/Groups/${id}`, { op: 'replace', path: 'displayName', value });
  await swapAfterLostCreate(
    'Groups',
    () => idp.createGroup('N1', [bob]),
    async (created) => {
      await rename(created, 'between');
      await rename(other, 'N1');
      await rename(created, 'N2');
    },
  );
  const groupsOf = async (name: string) => (await platform.user(name))?.groups.join();
  await eventually('ann', async () => (await groupsOf('ann@acme.example')) === 'N1', LONG_MS);
  await eventually('bob', async () => (await groupsOf('bob@acme.example')) === 'N2', LONG_MS);
  expect((await platform.state()).groups).toHaveLength(2);
  expect(await lettersOf()).toEqual([]);
}, 120_000);

test('a person whose create got no answer swaps userNames with another person → each has one account with the new name', async () => {
  const { idp, platform } = place;
  const named = (displayName: string) => ({ externalId: undefined, displayName });
  const other = await idp.createUser('n2@acme.example', named('Other'));
  await place.idle();
  const rename = (id: string, value: string) =>
    place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value });
  await swapAfterLostCreate(
    'Users',
    () => idp.createUser('n1@acme.example', named('New')),
    async (created) => {
      await rename(created, 'between@acme.example');
      await rename(other, 'n1@acme.example');
      await rename(created, 'n2@acme.example');
    },
  );
  const shownAs = async (name: string) => (await platform.user(name))?.displayName;
  await eventually('the other', async () => (await shownAs('n1@acme.example')) === 'Other', LONG_MS);
  await eventually('the new one', async () => (await shownAs('n2@acme.example')) === 'New', LONG_MS);
  expect((await platform.state()).users.filter(({ userName }) => /^n\d@/.test(userName))).toHaveLength(2);
  expect(await lettersOf()).toEqual([]);
}, 120_000);
