// Tests a connection that is taken out of the settings while its reconcile holds the target as another tenant, and one that is put
// back after an acceptance.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import type { Place } from '../support/situation.ts';
import { openTwoConnections, THEIRS, type TwoConnections } from '../support/two-connections.ts';

const OURS = ['ann', 'ben', 'cho', 'dan'].map((name) => `${name}@acme.example`);
const [ANN = ''] = OURS;
const BOB = 'bob@second.example';
const MANY = ['eva', 'fay', 'gus'].map((name) => `${name}@second.example`);
const WHY = 'default: 4 of 4 linked accounts belong to other people there';
const LEFT = 'the settings no longer have this connection there';
const ACCEPT = ['reconcile', '--target', 'main', '--accept-tenant', '--yes'];

let world: TwoConnections;
let place: Place;
beforeEach(async () => {
  world = await openTwoConnections();
  ({ place } = world);
}, 30_000);
afterEach(() => world.stop());

const { outcome, told } = commandsAt(() => world.place);
const plain = (text: string): string => text.replaceAll(/\S*main\.js /g, 'scim-bridge ');
const holds = async () =>
  (await place.commands.run('status', '--json')).json.map(({ connection, hold }: any) => [
    connection,
    hold?.by,
  ]);
/** Restarts with these connections alone. @returns the settings of the others */
async function keepConnections(...names: string[]): Promise<object> {
  let left = {};
  await place.change((settings) => {
    const all = Object.entries(settings.connections);
    settings.connections = Object.fromEntries(all.filter(([name]) => names.includes(name)));
    left = Object.fromEntries(all.filter(([name]) => !names.includes(name)));
  });
  return left;
}
/** Returns the people of the other platform whose accounts got a request that changes something. */
async function touchedThere(): Promise<string[]> {
  const paths = new Set((await world.changesThere()).map(({ path }) => path));
  const { users } = await world.there.state();
  return users.flatMap(({ userName, scimId }) =>
    THEIRS.includes(userName) && paths.has(`/api/scim/v2/Users/${scimId}`) ? [userName] : [],
  );
}

/** Both connections have people, and the reconcile of the first one holds the target. @returns the id of Bob */
async function untilHeld(): Promise<string> {
  for (const userName of OURS) await place.idp.createUser(userName);
  await place.idle();
  const bob = await world.second().createUser(BOB);
  await place.idle();
  expect((await world.there.user(THEIRS[OURS.length] ?? ''))?.scimId).toBe(
    (await place.platform.user(BOB))?.scimId,
  );
  world.lead(world.other);
  expect((await outcome('reconcile', '--yes'))[1]).toContain(WHY);
  await world.there.forgetRequests();
  return bob;
}

test('a connection that holds the target as another tenant is taken out of the settings → the other connection writes nothing there, the commands say why and what ends the hold, and an acceptance ends it', async () => {
  const bob = await untilHeld();
  await keepConnections('second');
  await world.second().patch(`/Users/${bob}`, { op: 'replace', path: 'displayName', value: 'Robert' });
  for (const command of [['reconcile', '--yes'], ['sync', BOB], ['resync'], ['release']])
    await outcome(...command);
  expect(await world.changesThere()).toEqual([]);
  expect(await holds()).toEqual([['second', 'reconcile']]);
  for (const args of [
    ['status'],
    ['doctor'],
    ['plan'],
    ['explain', BOB],
    ['sync', BOB],
    ['verify-access', BOB],
  ]) {
    const said = plain(await told(...args)).replaceAll(/\s+/g, ' ');
    for (const words of [WHY, LEFT, 'scim-bridge reconcile --target main --accept-tenant'])
      expect([args, said]).toEqual([args, expect.stringContaining(words)]);
  }
  expect((await outcome(...ACCEPT))[0]).toBe(0);
  await place.idle();
  expect(await holds()).toEqual([['second', undefined]]);
  expect(await world.there.user(BOB)).toMatchObject({ displayName: 'Robert' });
  expect(await touchedThere()).toEqual([]);
}, 60_000);

test('a connection that holds the target as another tenant is taken out of the settings, and the address leads to its own tenant again → the reconcile of the other connection ends the hold', async () => {
  const bob = await untilHeld();
  world.lead(place.sandbox);
  await keepConnections('second');
  await world.second().patch(`/Users/${bob}`, { op: 'replace', path: 'displayName', value: 'Robert' });
  await place.idle();
  expect(await holds()).toEqual([['second', undefined]]);
  expect(await place.platform.user(BOB)).toMatchObject({ displayName: 'Robert' });
  expect(await world.changesThere()).toEqual([]);
}, 60_000);

test('a tenant is accepted while a connection is out of the settings → the connection compares its links before it writes when it is back', async () => {
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  for (const userName of MANY) await world.second().createUser(userName);
  await place.idle();
  const left = await keepConnections('second');
  world.lead(world.other);
  expect((await outcome(...ACCEPT))[0]).toBe(0);
  await place.idle();
  await place.change((settings) => Object.assign(settings.connections, left));
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Anna' });
  await eventually('the reconcile of the start has ended', async () =>
    (await holds()).every(([, by]: unknown[]) => by === 'reconcile'),
  );
  expect(await touchedThere()).toEqual([]);
  expect((await outcome(...ACCEPT))[0]).toBe(0);
  await place.idle();
  expect(await world.there.user(ANN)).toMatchObject({ displayName: 'Anna' });
  expect(await touchedThere()).toEqual([]);
}, 60_000);
