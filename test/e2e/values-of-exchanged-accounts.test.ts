// Tests that attribute values go only to the console account of the linked SCIM account, whatever people did at the platform.
import { parseLink, toLinkText } from '../../src/directory/outbox/link.ts';
import { byHand } from '../support/by-hand.ts';
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { send } from '../support/send.ts';

const [ANN, BOB] = ['ann@acme.example', 'bob@acme.example'] as const;
/** No externalId tells the two accounts apart. */
const NAMELESS = { externalId: undefined };

let place: Place;
let ann: string;
let bob: string;
beforeEach(async () => {
  const attributes = {
    regions: { type: 'string_array', expression: 'groups.display[$match($, /^region-/)]' },
  };
  place = await openPlace({ target: { attributes, adopt: 'report' } });
  ann = await place.idp.createUser(ANN, NAMELESS);
  bob = await place.idp.createUser(BOB, NAMELESS);
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

const scimIdOf = async (userName: string): Promise<string> =>
  (await place.platform.user(userName))?.scimId ?? '';
const regionsOf = async (scimId: string): Promise<unknown> =>
  (await place.platform.state()).users.find((user) => user.scimId === scimId)?.attributes.regions ?? [];
const rename = (scimId: string, value: string): Promise<void> =>
  byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'userName', value });
const joins = (region: string, user: string): Promise<string> => place.idp.createGroup(region, [user]);

/** Exchanges the userNames of two accounts by hand. */
async function exchange(one: string, other: string): Promise<void> {
  await rename(one, 'between@acme.example');
  await rename(other, ANN);
  await rename(one, BOB);
}

test('somebody swaps the userNames of two accounts at the platform → a pushed value is written to the account that is linked to the person', async () => {
  const [annAccount, bobAccount] = [await scimIdOf(ANN), await scimIdOf(BOB)];
  await exchange(annAccount, bobAccount);
  await joins('region-eu', ann);
  await eventually('the value is written', async () => (await regionsOf(annAccount)) !== undefined);
  await place.idle();
  expect(await regionsOf(annAccount)).toEqual(['region-eu']);
  expect(await regionsOf(bobAccount)).toEqual([]);
  await joins('region-us', bob);
  await place.idle();
  expect(await regionsOf(bobAccount)).toEqual(['region-us']);
  await place.commands.run('reconcile', '--full', '--yes');
  expect((await place.platform.user(ANN))?.attributes.regions).toEqual(['region-eu']);
  expect((await place.platform.user(BOB))?.attributes.regions).toEqual(['region-us']);
}, 60_000);

test('somebody replaces an account by a new one with the same userName → no value is written to the new account, which is not adopted', async () => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  await byHand(place, 'DELETE', `/Users/${await scimIdOf(ANN)}`);
  const headers = { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' };
  const body = { email: ANN, username: ANN };
  expect((await send(platformUrl, 'POST', '/api/v1/users', { headers, body })).status).toBe(200);
  await joins('region-eu', ann);
  await place.idle();
  expect(await regionsOf(await scimIdOf(ANN))).toEqual([]);
  expect((await place.commands.run('status')).code).not.toBe(0);
}, 60_000);

test('the link of a person has the account id of another person → plan and verify-access report it, and a reconcile gives each person the own values', async () => {
  await joins('region-eu', ann);
  await joins('region-us', bob);
  await place.idle();
  const [annAccount, bobAccount] = await Promise.all([ANN, BOB].map((name) => place.platform.user(name)));
  // The state that an earlier release left after an exchange of userNames by hand: Ann's values were written to Bob.
  const links = await place.key(':links:main');
  const link = parseLink((await place.redis.hget(links, `User:${ann}`)) ?? '');
  expect(link.account).toBe(String(annAccount?.id));
  await place.redis.hset(links, `User:${ann}`, toLinkText({ ...link, account: String(bobAccount?.id) }));
  await setRegions(bobAccount?.id, ['region-eu']);
  await setRegions(annAccount?.id, ['region-us']);

  expect((await place.commands.run('verify-access', ANN)).text.replaceAll(/\s+/g, ' ')).toContain(
    'the number of another console account',
  );
  expect((await place.commands.run('explain', ANN)).text).toContain('account');
  const plan = await place.commands.run('plan');
  expect(plan.code).toBe(2);
  expect(plan.text).toContain(`account: "${bobAccount?.id}" → "${annAccount?.id}"`);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await regionsOf(annAccount?.scimId ?? '')).toEqual(['region-eu']);
  expect(await regionsOf(bobAccount?.scimId ?? '')).toEqual(['region-us']);
  expect((await place.commands.run('plan', '--full')).code).toBe(0);
  await joins('region-asia', ann);
  await place.idle();
  expect(await regionsOf(annAccount?.scimId ?? '')).toEqual(['region-asia', 'region-eu']);
}, 60_000);

/** Sets the list value of an account as the console does. */
async function setRegions(account: number | undefined, regions: string[]): Promise<void> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const headers = { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' };
  const definitions = await send(platformUrl, 'GET', '/api/v1/user-attributes', { headers });
  const items = (definitions.body as { items: { id: string; name: string }[] }).items;
  const body = {
    userId: String(account),
    userAttributeId: String(items.find(({ name }) => name === 'regions')?.id),
    value: regions,
  };
  const answer = await send(platformUrl, 'POST', '/api/v1/user-attribute-values', { headers, body });
  expect(answer.status).toBeLessThan(300);
}

test("the source swaps the userNames of two people → each account keeps its person's values, and a later value goes to the right account", async () => {
  await joins('region-eu', ann);
  await joins('region-us', bob);
  await place.idle();
  const [annAccount, bobAccount] = [await scimIdOf(ANN), await scimIdOf(BOB)];
  const push = (user: string, value: string) =>
    place.idp.patch(`/Users/${user}`, { op: 'replace', path: 'userName', value });
  await push(ann, 'between@acme.example');
  await push(bob, ANN);
  await push(ann, BOB);
  await joins('region-asia', ann);
  await place.idle();
  expect(await regionsOf(annAccount)).toEqual(['region-asia', 'region-eu']);
  expect(await regionsOf(bobAccount)).toEqual(['region-us']);
  expect((await place.commands.run('plan', '--full')).code).toBe(0);
}, 60_000);
