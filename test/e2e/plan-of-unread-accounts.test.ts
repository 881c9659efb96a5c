// Tests plan and reconcile while the user list, by which the values of an account are found, cannot be read.
import '../support/load-modules.ts';
import { join } from 'node:path';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { scrape } from '../support/scrape.ts';
import { send } from '../support/send.ts';

const BOB = 'bob@acme.example';

let place: Place;
let bob: string;
beforeEach(async () => {
  const regions = { type: 'string_array', expression: 'groups.display[$match($, /^region-/)]' };
  place = await openPlace({ target: { attributes: { regions } } });
  // The bridge writes no value of the person, so the link does not know the account in the value list.
  bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.commands.run('reconcile', '--yes');
  await giveRegions(['region-us']);
}, 60_000);
afterEach(() => place.stop());

/** Gives the person a value that the source does not have. */
async function giveRegions(value: string[]): Promise<void> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const headers = {
    authorization: `Bearer ${fixtures.apiKeys.admin}`,
    'content-type': 'application/json',
  };
  const definitions = await send(platformUrl, 'GET', '/api/v1/user-attributes', { headers });
  const { items } = definitions.body as { items: { id: string; name: string }[] };
  const body = {
    userId: String((await place.platform.user(BOB))?.id),
    userAttributeId: String(items.find(({ name }) => name === 'regions')?.id),
    value,
  };
  const answer = await send(platformUrl, 'POST', '/api/v1/user-attribute-values', { headers, body });
  expect(answer.status).toBeLessThan(300);
}

const fail = (...rules: object[]) => place.platform.control('PATCH', '/faults', { rules });
const users = { method: 'GET', path: '/api/v1/users' };
const always = { times: 9999 };

test.each([
  ['500', { status5xx: { share: 1, status: 500 } }],
  ['403', { status5xx: { share: 1, status: 403 } }],
])(
  'the user list answers %s → plan --full and reconcile say that a person was not read, and find the value once the list answers',
  async (_status, fault) => {
    await fail({ ...users, ...always, ...fault });
    const plan = await place.commands.run('plan', '--full');
    expect(plan.text).toContain('could not be read whole');
    expect(plan.text).not.toContain('create');
    expect(plan.code).not.toBe(0);
    const run = await place.commands.run('reconcile', '--full', '--yes');
    expect(run.text).toContain('1 resource could not be read');
    expect(run.code).not.toBe(0);
    await fail();
    await place.commands.run('reconcile', '--full', '--yes');
    expect((await place.platform.user(BOB))?.attributes.regions ?? []).toEqual([]);
    expect((await place.commands.run('plan', '--full')).code).toBe(0);
  },
  60_000,
);

test('the list of groups answers 503 during a reconcile → status and metrics show the number of people at the platform and none of groups', async () => {
  await place.idp.createGroup('region-eu', [bob]);
  await place.idle();
  await place.commands.run('reconcile', '--yes');
  const shown = /1 linked \(1 shown by the platform at the last reconcile\)/;
  expect((await place.commands.run('status')).text.match(new RegExp(shown, 'g'))).toHaveLength(2);
  const seen = async (): Promise<number[]> =>
    (await scrape(place.port))
      .find('bridge_coverage')
      .flatMap(({ labels, value }) => (labels.state === 'seen' ? [value] : []));
  expect(await seen()).toEqual([1, 1]);
  const groups = { method: 'GET', path: '/api/scim/v2/Groups' };
  await fail({ ...groups, ...always, status5xx: { share: 1, status: 503 } });
  const run = await place.commands.run('reconcile', '--yes');
  expect(run.code).not.toBe(0);
  const { text } = await place.commands.run('status');
  expect(text).toContain('unproven');
  expect(text).toContain(
    'people: 1 in all: 1 linked (1 shown by the platform at the last reconcile), 0 missing',
  );
  expect(text).toContain('groups: 1 in all: 1 linked, 0 missing');
  expect(await seen()).toEqual([1]);
}, 60_000);

test('the user list cannot be read → sync and explain of a person say that values were not read, and sync exits nonzero', async () => {
  await fail({ ...users, ...always, status5xx: { share: 1, status: 403 } });
  const synced = await place.commands.run('sync', BOB);
  expect(synced.text).toContain('attribute values could not be read');
  expect(synced.code).toBe(2);
  expect((await place.commands.run('sync', BOB, '--dry-run')).code).toBe(1);
  expect((await place.commands.run('explain', BOB)).text).toMatch(/could not\s+be read now/);
  await fail();
  expect((await place.commands.run('sync', BOB)).code).toBe(0);
  expect((await place.platform.user(BOB))?.attributes.regions ?? []).toEqual([]);
}, 60_000);

test('plan --full exits 0 if a web page answers only the user list, as at a tenant without this list, and nonzero if it answers all lists', async () => {
  const pages = { ...always, htmlAnswer: 1 };
  await fail({ ...users, ...pages });
  expect((await place.commands.run('plan', '--full')).code).toBe(0);
  await fail({ method: 'GET', path: '/api/v1/', ...pages });
  const plan = await place.commands.run('plan', '--full');
  expect(plan.text).toContain('could not be read');
  expect(plan.code).not.toBe(0);
}, 60_000);

test('the user list cannot be read → plan shows the closing of a reopened account, and sync of the person closes it, exits 2 and says that values were not read', async () => {
  const active = (value: boolean) => ({ op: 'replace', path: 'active', value });
  await place.idp.patch(`/Users/${bob}`, active(false));
  await place.idle();
  await byHand(place, 'PATCH', `/Users/${(await place.platform.user(BOB))?.scimId}`, active(true));
  await fail({ ...users, ...always, status5xx: { share: 1, status: 403 } });
  expect((await place.commands.run('explain', BOB)).text).toContain('deactivate');
  const plan = (await place.commands.run('plan', '--full')).text.replaceAll(/\s+/g, ' ');
  expect(plan).toContain('1 to deactivate');
  expect(plan).toContain(
    '1 resource could not be read, or only in part: what was not read is unknown, and is neither compared nor repaired.',
  );
  const synced = await place.commands.run('sync', BOB);
  expect((await place.platform.user(BOB))?.active).toBe(false);
  expect(synced.text).toContain('attribute values could not be read');
  expect(synced.code).toBe(2);
}, 60_000);

test('the list of values cannot be read → apply does not report a clearing as done, and clears the value afterwards', async () => {
  const file = join(place.commands.folder, 'plan.json');
  expect((await place.commands.run('plan', '--full', '--out', file)).code).toBe(2);
  await fail({
    method: 'GET',
    path: '/api/v1/user-attribute-values',
    ...always,
    status5xx: { share: 1, status: 500 },
  });
  const unread = await place.commands.run('apply', file, '--yes');
  expect(unread.text).not.toMatch(/nothing is left to do/i);
  expect(unread.code).not.toBe(0);
  await fail();
  const applied = await place.commands.run('apply', file, '--yes');
  await place.idle();
  expect(applied.code).toBe(0);
  expect((await place.platform.user(BOB))?.attributes.regions ?? []).toEqual([]);
}, 60_000);

test.each([
  ['deleted at the source', () => place.idp.send('DELETE', `/Users/${bob}`)],
  [
    'inactive at the source',
    () => place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: false }),
  ],
])(
  'the account of a person %s is reactivated by hand and cannot be read → the first reconcile names the person, and the next one closes the account',
  async (_, leave) => {
    await leave();
    await place.idle();
    const account = await place.platform.user(BOB);
    expect(account?.active).toBe(false);
    const path = `/Users/${account?.scimId ?? ''}`;
    await byHand(place, 'PATCH', path, { op: 'replace', path: 'active', value: true });
    await fail({ method: 'GET', path: `${path}$`, ...always, status5xx: { share: 1, status: 503 } });
    await place.platform.forgetRequests();
    const unread = await place.commands.run('reconcile', '--yes');
    expect(unread.text).toContain(`unproven: 1 resource could not be read (${BOB})`);
    expect(await place.platform.writes()).toEqual([]);
    await fail();
    const { text, code } = await place.commands.run('reconcile', '--yes');
    expect([code, text]).toEqual([0, expect.stringContaining(`deactivate user ${BOB}`)]);
    expect((await place.platform.user(BOB))?.active).toBe(false);
  },
  60_000,
);
