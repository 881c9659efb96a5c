// Tests a user list that answers 404 for a short or a long time: it makes no lasting dead letter.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const ABSENT = { method: 'GET', path: '^/api/v1/users$', status5xx: { status: 404 } };

let place: Place;
beforeEach(async () => {
  const attributes = {
    regions: { type: 'string_array', expression: 'groups.display[$match($, /^region-/)]' },
  };
  place = await openPlace({ target: { attributes } });
}, 60_000);
afterEach(() => place.stop());

const setRules = (...rules: object[]) => place.platform.control('PATCH', '/faults', { rules });
const regions = async () => (await place.platform.user(ANN))?.attributes.regions;
const deadLetters = async () => (await place.commands.run('dead-letters', 'list')).text;

test.each([1, 2])(
  'the user list answers 404 %s times and then 200 → the value of a person is written without a dead letter',
  async (times) => {
    const ann = await place.idp.createUser(ANN);
    await place.idle();
    await setRules({ ...ABSENT, times });
    await place.idp.createGroup('region-eu', [ann]);
    await place.idle();
    expect(await regions()).toEqual(['region-eu']);
    expect(await deadLetters()).toBe('No dead letters.');
  },
  60_000,
);

test('the user list is missing for long and makes a person a dead letter → the first reconcile after its return writes the value', async () => {
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await setRules(ABSENT);
  await place.idp.createGroup('region-eu', [ann]);
  await eventually('a dead letter', async () => (await deadLetters()).includes('needs the user list'));
  await place.commands.run('reconcile', '--yes');
  expect(await deadLetters()).toContain('needs the user list');
  await setRules();
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await regions()).toEqual(['region-eu']);
  expect(await deadLetters()).toBe('No dead letters.');
  expect((await place.commands.run('plan')).code).toBe(0);
}, 60_000);
