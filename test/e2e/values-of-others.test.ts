// Tests values of mapped attributes that a person gives at the platform to people for whom the bridge never wrote one.
import { byHand } from '../support/by-hand.ts';
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { send } from '../support/send.ts';

const EXTENSION = 'urn:cube:params:1.0:UserAttribute';
const [ANN, BOB, CID] = ['ann@acme.example', 'bob@acme.example', 'cid@acme.example'] as const;

let place: Place;
beforeEach(async () => {
  const country = 'addresses[type eq "work"].country';
  const attributes = {
    country: { type: 'string', from: country },
    kept: { type: 'string', from: country, onEmpty: 'keep' },
    emptied: { type: 'string', expression: 'title = "boss" ? "all" : null', onEmpty: 'keep' },
    regions: { type: 'string_array', expression: 'groups.display[$match($, /^region-/)]' },
  };
  place = await openPlace({ target: { attributes } });
  const { idp } = place;
  const ann = await idp.createUser(ANN, { title: 'boss', addresses: [{ type: 'work', country: 'DE' }] });
  for (const name of [BOB, CID]) await idp.createUser(name);
  await idp.createGroup('region-eu', [ann]);
  await place.idle();
  // Stores what the run found equal, so that the next one compares only what changed since.
  await place.commands.run('reconcile', '--yes');
}, 60_000);
afterEach(() => place.stop());

async function giveValues(person: string, values: Record<string, string>): Promise<void> {
  const { scimId = '' } = (await place.platform.user(person)) ?? {};
  const operations = Object.entries(values).map(([name, value]) => ({
    ...{ op: 'replace', path: `${EXTENSION}:${name}`, value },
  }));
  await byHand(place, 'PATCH', `/Users/${scimId}`, ...operations);
}

async function giveRegions(person: string, regions: string[]): Promise<void> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const headers = {
    authorization: `Bearer ${fixtures.apiKeys.admin}`,
    'content-type': 'application/json',
  };
  const definitions = await send(platformUrl, 'GET', '/api/v1/user-attributes', { headers });
  const items = (definitions.body as { items: { id: string; name: string }[] }).items;
  const body = {
    userId: String((await place.platform.user(person))?.id),
    userAttributeId: String(items.find(({ name }) => name === 'regions')?.id),
    value: regions,
  };
  const answer = await send(platformUrl, 'POST', '/api/v1/user-attribute-values', { headers, body });
  expect(answer.status).toBeLessThan(300);
}

const attributesOf = async (person: string) => (await place.platform.user(person))?.attributes;

test('a text value that the source lacks is cleared by the next reconcile, and stays with onEmpty: keep', async () => {
  await giveValues(BOB, { country: 'US', kept: 'US', emptied: 'all' });
  const plan = await place.commands.run('plan');
  expect(plan.text).toContain('country: "US" → nothing');
  expect(plan.text).not.toContain('kept');
  expect(plan.code).toBe(2);
  await place.commands.run('reconcile', '--yes');
  expect(await attributesOf(BOB)).toEqual({ kept: 'US' });
  expect((await place.commands.run('plan')).code).toBe(0);
  expect(await attributesOf(ANN)).toMatchObject({ country: 'DE', emptied: 'all', regions: ['region-eu'] });
}, 60_000);

test('somebody sets a string_array at the platform that the source lacks → reconcile --full clears the value', async () => {
  await giveRegions(CID, ['region-us']);
  expect((await place.commands.run('plan', '--full')).text).toContain('regions: ["region-us"] → nothing');
  await place.commands.run('reconcile', '--full', '--yes');
  expect((await attributesOf(CID))?.regions ?? []).toEqual([]);
  expect((await place.commands.run('plan', '--full')).code).toBe(0);
}, 60_000);

test('somebody sets a value at the platform that the source lacks, and the limit allows no clearing → the guard holds the clearing', async () => {
  await place.change((settings) => {
    Object.assign(settings.targets?.main ?? {}, { guard: { clearAttributes: { count: 0, percent: 0 } } });
  });
  await giveValues(BOB, { country: 'US' });
  await place.commands.run('reconcile', '--yes');
  expect(await attributesOf(BOB)).toEqual({ country: 'US' });
  expect((await place.commands.run('approvals', 'list')).text).toContain('1 attribute value to empty');
}, 60_000);

test.each(['held', 'rejected'])(
  'the %s clearing of a value that somebody set at the platform ends when somebody clears the value there',
  async (state) => {
    await place.change((settings) => {
      Object.assign(settings.targets?.main ?? {}, { guard: { clearAttributes: { count: 0, percent: 0 } } });
    });
    await giveValues(BOB, { country: 'US' });
    await place.commands.run('reconcile', '--yes');
    if (state === 'rejected') {
      const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
      await place.commands.run('approvals', 'reject', id, '--yes');
      await place.idle();
    }
    const { scimId = '' } = (await place.platform.user(BOB)) ?? {};
    await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'remove', path: `${EXTENSION}:country` });
    expect((await place.commands.run('plan')).text).toContain('done at the platform already');
    await place.commands.run('reconcile', '--yes');
    await place.idle();
    expect((await place.commands.run('approvals', 'list')).text).toBe('The guard holds nothing.');
    expect((await place.commands.run('exceptions')).text).toBe('No exceptions.');
    expect((await place.commands.run('log', '--resource', BOB)).text).toContain(
      'somebody else made the emptying of country',
    );
  },
  60_000,
);

test('a push and somebody at the platform change one list value → plan has one entry, from the value at the platform to the desired value', async () => {
  const south = await place.idp.createGroup('region-south', []);
  await place.idle();
  const found = await place.idp.send('GET', `/Users?filter=userName eq "${ANN}"`);
  const ann = String(found.body.Resources[0].id);
  await place.stopApps();
  await place.start('api');
  await giveRegions(ANN, ['by hand']);
  await place.idp.patch(`/Groups/${south}`, { op: 'add', path: 'members', value: [{ value: ann }] });
  const { text } = await place.commands.run('plan');
  expect(text.match(/setAttribute user ann/g)).toHaveLength(1);
  expect(text).toContain('["by hand"] → ["region-eu","region-south"]');
}, 60_000);
