// Tests two connections of one target whose unchanged address leads to another tenant. The reconcile of a connection with at least
// three linked accounts notices it; another one has fewer, does not notice it, and writes nothing there either.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openTwoConnections, THEIRS, type TwoConnections } from '../support/two-connections.ts';

const OURS = ['ann', 'ben', 'cho', 'dan'].map((name) => `${name}@acme.example`);
const BOB = 'bob@second.example';
const LEE = 'lee@second.example';
const MANY = ['eva', 'fay', 'gus'].map((name) => `${name}@second.example`);
const LATE = 'late@acme.example';
const WHY = 'default: 4 of 4 linked accounts belong to other people there';
const ORDER = 'scim-bridge reconcile --target main --accept-tenant';

let world: TwoConnections;
let bob: string;

const rename = (displayName: string) =>
  world.second().patch(`/Users/${bob}`, { op: 'replace', path: 'displayName', value: displayName });

/** @param ofSecond people of the second connection beside Bob */
async function open(ofDefault: readonly string[], ofSecond: readonly string[] = []): Promise<void> {
  world = await openTwoConnections();
  const { place, other, there, second, lead } = world;
  for (const userName of ofDefault) await place.idp.createUser(userName);
  for (const userName of ofSecond) await second().createUser(userName);
  await place.idle();
  bob = await second().createUser(BOB);
  await place.idle();
  // The id of Bob's account is that of a stranger in the other tenant, so a write to it would change the stranger.
  const theirs = THEIRS[ofDefault.length + ofSecond.length] ?? '';
  expect((await there.user(theirs))?.scimId).toBe((await place.platform.user(BOB))?.scimId);
  lead(other);
  await there.forgetRequests();
}
afterEach(() => world.stop());

/** Returns a promise, and a function that fulfils it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const { outcome, told } = commandsAt(() => world.place);
const plain = (text: string): string => text.replaceAll(/\S*main\.js /g, 'scim-bridge ');

test('one of two connections is held because of another tenant → the second connection writes nothing either, and the commands give the reason', async () => {
  await open(OURS);
  const { place, second, lead, namesThere, changesThere } = world;
  const [code, text] = await outcome('reconcile', '--yes');
  expect([code, plain(text)]).toEqual([
    2,
    expect.stringContaining(`second → main: held: main may be another tenant: ${WHY}`),
  ]);
  await rename('Robert');
  await second().createUser(LEE);
  for (const command of [['reconcile', '--yes'], ['sync', LEE], ['sync', BOB], ['resync']])
    await outcome(...command);
  // Time in which a worker would write if it might.
  await place.idp.createUser(LATE);
  await eventually(
    'the mark waits',
    async () => (await place.commands.run('status', '--json')).json[1].dirty > 0,
  );
  expect(await changesThere()).toEqual([]);
  const synced = await place.commands.run('sync', BOB, '--json');
  expect([synced.code, synced.json]).toMatchObject([2, [{ differences: null, steps: [], outcome: 'held' }]]);
  for (const said of [synced.json[0].message, await told('verify-access', BOB)]) {
    expect(plain(said)).toContain(`on hold by reconcile (${WHY}): nothing is written`);
    expect(plain(said)).toContain(ORDER);
  }
  expect(plain(await told('verify-access', BOB))).toContain('main may be another tenant and was not read');
  const rows = (await place.commands.run('status', '--json')).json;
  expect(rows.map(({ connection, hold }: any) => [connection, hold?.by, hold?.note])).toEqual([
    ['default', 'reconcile', WHY],
    ['second', 'reconcile', WHY],
  ]);
  for (const args of [['status'], ['explain', BOB], ['explain', LEE], ['doctor'], ['plan']]) {
    const said = plain(await told(...args));
    expect([args, said]).toEqual([args, expect.stringContaining(WHY)]);
    expect([args, said]).toEqual([args, expect.stringContaining(ORDER)]);
  }
  expect(plain(await told('plan'))).toMatch(/second → main.*main may be another tenant: default: /);
  expect(plain(await told('doctor'))).toMatch(
    /hold second → main: on hold since \S+ by reconcile \(default: /,
  );
  expect(plain(await told('release'))).toContain('stays on hold');
  expect(await namesThere()).toEqual(THEIRS);

  lead(place.sandbox);
  expect((await outcome('reconcile', '--yes'))[0]).toBe(0);
  await place.idle();
  expect(await place.platform.user(BOB)).toMatchObject({ displayName: 'Robert' });
  expect(await place.platform.user(LEE)).toMatchObject({ active: true });
  expect((await place.commands.run('status', '--json')).json.map(({ hold }: any) => hold)).toEqual([
    null,
    null,
  ]);
  expect(await changesThere()).toEqual([]);
}, 60_000);

test.each([
  ['the first connection', OURS, []],
  ['the second connection, while the first one has no link,', [], MANY],
  ['each of both connections', OURS, MANY],
])(
  '%s finds another tenant and an operator accepts it → each connection compares its links before it writes, and no foreign account is changed',
  async (_who, ofDefault, ofSecond) => {
    await open(ofDefault, ofSecond);
    const { place, there, namesThere, changesThere } = world;
    await outcome('reconcile', '--yes');
    await rename('Robert');
    await place.idp.createUser(LATE);
    expect(await changesThere()).toEqual([]);
    const [code, text] = await outcome('reconcile', '--target', 'main', '--accept-tenant', '--yes');
    expect([code, text]).toEqual([0, expect.stringContaining('second → main: converged')]);
    await place.idle();
    expect((await namesThere()).sort()).toEqual([...ofDefault, LATE, ...ofSecond, BOB, ...THEIRS].sort());
    expect(await there.user(BOB)).toMatchObject({ displayName: 'Robert' });
    const theirs = (await there.state()).users.filter(({ userName }) => THEIRS.includes(userName));
    const paths = new Set((await changesThere()).map(({ path }) => path));
    expect(theirs.filter(({ scimId }) => paths.has(`/api/scim/v2/Users/${scimId}`))).toEqual([]);
    const rows = (await place.commands.run('status', '--json')).json;
    expect(rows.map(({ hold }: any) => hold)).toEqual([null, null]);
  },
  60_000,
);

test('the first connection accepts another tenant while the second runs → the second compares its link before it writes, and no foreign account is changed', async () => {
  await open(OURS);
  const { front, place, there, namesThere } = world;
  await outcome('reconcile', '--yes');
  await rename('Robert');
  // A run of this command lists the users twice for each connection; the third list is the first one of the second connection.
  let lists = 0;
  const arrived = gate();
  const go = gate();
  front.edit = async (_method, url, body) => {
    if (!/\/scim\/v2\/Users\?/.test(url) || ++lists !== 3) return body;
    arrived.open();
    await go.opened;
    return body;
  };
  const slow = outcome('reconcile', '--yes');
  await arrived.opened;
  const accepting = outcome('reconcile', '--target', 'main', '--accept-tenant', '--yes');
  await eventually('the first connection has its people there', async () =>
    (await namesThere()).includes(OURS[0] ?? ''),
  );
  go.open();
  expect((await slow)[1]).toContain(
    'second → main: held: another connection accepted the tenant of main during this run',
  );
  expect((await accepting)[0]).toBe(0);
  await place.idle();
  expect((await namesThere()).sort()).toEqual([...OURS, BOB, ...THEIRS].sort());
  expect(await there.user(BOB)).toMatchObject({ displayName: 'Robert' });
}, 60_000);
