// Tests people whose accounts got each other's userName by hand: each gets the own userName back.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const CYD = 'cyd@acme.example';

let place: Place;
/** externalId by userName, as the source wants it. */
const wanted = new Map<string, string>();
const ids: string[] = [];

beforeEach(async () => {
  place = await openPlace({});
  ids.length = 0;
  for (const name of [ANN, BOB, CYD]) {
    ids.push(await place.idp.createUser(name));
    wanted.set(name, `ext-${name}`);
  }
  await place.idle();
});
afterEach(() => place.stop());

const { outcome } = commandsAt(() => place);
const rename = async (from: string, to: string): Promise<void> =>
  byHand(place, 'PATCH', `/Users/${(await place.platform.user(from))?.scimId}`, {
    op: 'replace',
    path: 'userName',
    value: to,
  });

/** Expects that each account has the userName that its source wants, and that no sync needs a person. */
async function expectOwnNames(): Promise<void> {
  for (const [name, externalId] of wanted)
    expect(await place.platform.user(name)).toMatchObject({ externalId, active: true });
  expect(await outcome('dead-letters', 'list')).toEqual([0, 'No dead letters.']);
  expect((await outcome('plan'))[0]).toBe(0);
}

test.each([
  ['with a worker', 'all', 0],
  ['with a worker, the second person', 'all', 1],
  ['without a worker', 'api', 0],
  ['without a worker, the second person', 'api', 1],
] as const)(
  'somebody swaps the userNames of two accounts at the platform → sync --dry-run of one person lists both renames, and sync writes both (%s)',
  async (_name, role, index) => {
    await place.stopApps();
    await place.start(role);
    await rename(ANN, 'between@acme.example');
    await rename(BOB, ANN);
    await rename('between@acme.example', BOB);
    const id = `User:${ids[index]}`;
    const [code, text] = await outcome('sync', id, '--dry-run');
    expect(code).toBe(2);
    expect(text).toContain(`userName: "${ANN}" → "${BOB}"`);
    expect(text).toContain(`userName: "${BOB}" → "${ANN}"`);
    expect((await outcome('explain', id))[1]).toContain(`scim-bridge sync ${id}, brings it`);
    expect((await outcome('sync', id))[0]).toBe(0);
    await expectOwnNames();
  },
  90_000,
);

test('somebody exchanges the userNames of three accounts in a circle at the platform → sync of one person writes all three names', async () => {
  await rename(ANN, 'between@acme.example');
  await rename(BOB, ANN);
  await rename(CYD, BOB);
  await rename('between@acme.example', CYD);
  expect((await outcome('sync', `User:${ids[0]}`))[0]).toBe(0);
  await expectOwnNames();
}, 90_000);

test('somebody renames an account at the platform and gives its userName to a second account → sync of the first person renames both accounts', async () => {
  await rename(ANN, 'former@acme.example');
  await rename(BOB, ANN);
  expect((await outcome('sync', `User:${ids[0]}`))[0]).toBe(0);
  await expectOwnNames();
}, 90_000);
