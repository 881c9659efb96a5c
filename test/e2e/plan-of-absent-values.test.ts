// Tests that a plan says of an attribute that it has no value only if the platform was seen to have none.
import '../support/load-modules.ts';
import { atPlatform } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const LEVELS = { type: 'number_array', expression: '[$number(title)]' };

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { levels: LEVELS } } });
  await place.idp.createUser(ANN, { title: '1', nickName: 'sales' });
  await place.idle();
}, 30_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);

test('a list value is removed by hand → plan, which reads the values, says that the attribute has no value', async () => {
  const { id } = (await place.platform.user(ANN)) ?? {};
  const { data } = await atPlatform(place, 'GET', '/api/v1/user-attributes');
  const levels = data.find(({ name }: { name: string }) => name === 'levels');
  const body = { userId: String(id), userAttributeId: String(levels.id), value: null };
  await atPlatform(place, 'POST', '/api/v1/user-attribute-values', body);
  expect((await place.platform.user(ANN))?.attributes).toEqual({});
  expect(await told('plan')).toContain('the attribute has no value (platform changed');
  await place.commands.run('reconcile', '--yes');
}, 30_000);

test('the mapping has new attributes, and the values at the platform are not read → plan says that no value is known', async () => {
  await place.change(({ targets: { main } }) => {
    main.attributes = { levels: LEVELS, team: { type: 'string', from: 'nickName' }, ranks: LEVELS };
  });
  const plan = await told('plan', '--full');
  for (const change of ['team: nothing → "sales"', 'ranks: nothing → [1]'])
    expect(plan).toContain(`the attribute has no known value (mapping changed); ${change}`);
  expect(plan).not.toContain('another value');
}, 30_000);
