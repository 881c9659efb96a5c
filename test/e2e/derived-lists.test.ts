// Tests list attributes whose values are derived from the groups of a person: their order has no meaning.
import { parseLink, toLinkText } from '../../src/directory/outbox/link.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { send } from '../support/send.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const REGIONS = ['region-eu', 'region-jp', 'region-us'];
const attributes = {
  regions: { type: 'string_array', expression: 'groups.display[$match($, /^region-/)]' },
};

let place: Place;
let ann = '';
beforeAll(async () => {
  place = await openPlace({ target: { attributes } });
  ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  const groups = new Map<string, string>();
  for (const name of REGIONS) groups.set(name, await place.idp.createGroup(name));
  const join = async (user: string, names: string[]): Promise<void> => {
    for (const name of names)
      await place.idp.patch(`/Groups/${groups.get(name) ?? ''}`, {
        ...{ op: 'add', path: 'members', value: [{ value: user }] },
      });
  };
  await join(ann, ['region-us', 'region-jp', 'region-eu']);
  await join(bob, ['region-jp', 'region-eu', 'region-us']);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const regionsOf = async (name: string) => (await place.platform.user(name))?.attributes.regions;

/** Asks every command that compares a person, or the target, with the platform. */
async function expectAsDesired(): Promise<void> {
  for (const name of [ANN, BOB]) {
    expect((await place.commands.run('explain', name)).text).toContain(`${name} is at main as desired`);
    expect(await place.commands.run('verify-access', name)).toMatchObject({ code: 0 });
    expect(await place.commands.run('sync', name, '--dry-run')).toMatchObject({ code: 0 });
  }
  expect(await place.commands.run('plan', '--full')).toMatchObject({ code: 0 });
}

test('two people join the same groups in different orders → both get the same list value, and every command reports them as desired', async () => {
  await expect(regionsOf(ANN)).resolves.toEqual(REGIONS);
  await expect(regionsOf(BOB)).resolves.toEqual(REGIONS);
  await expectAsDesired();
}, 60_000);

test('a plan with changed settings does not list a list value that differs only in the order of its elements', async () => {
  await place.change(({ targets: { main } }) => {
    main.attributes = { ...attributes, lang: { type: 'string', from: 'locale' } };
  });
  const plan = await place.commands.run('plan');
  expect(plan.text).not.toContain('regions');
}, 60_000);

test('a list value with another order of its elements counts as desired and is not written again', async () => {
  const former = ['region-us', 'region-eu', 'region-jp'];
  const links = await place.key('links:main');
  const link = parseLink((await place.redis.hget(links, `User:${ann}`)) ?? '');
  const text = toLinkText({ ...link, attributes: { regions: former } });
  await place.redis.hset(links, `User:${ann}`, text);
  const { attributeDefinitions } = await place.platform.state();
  const { platformUrl, fixtures } = place.sandbox.ready;
  await send(platformUrl, 'POST', '/api/v1/user-attribute-values', {
    headers: {
      authorization: `Bearer ${fixtures.apiKeys.admin}`,
      'content-type': 'application/json',
    },
    body: {
      userId: String((await place.platform.user(ANN))?.id),
      userAttributeId: String(
        attributeDefinitions.find(({ name }: { name: string }) => name === 'regions').id,
      ),
      value: former,
    },
  });
  await expect(regionsOf(ANN)).resolves.toEqual(former);

  await expectAsDesired();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann' });
  await place.idle();
  await expect(regionsOf(ANN)).resolves.toEqual(former);
  await expectAsDesired();
}, 60_000);
