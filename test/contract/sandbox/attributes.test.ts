// Tests attribute definitions and values of the sandbox (contract 3.1 and 3.2).
import { startRig, type Rig } from './rig.ts';

const DEFINITIONS = '/api/v1/user-attributes';
const VALUES = '/api/v1/user-attribute-values';
const TYPES = ['string', 'number', 'boolean', 'string_array', 'number_array'];
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const list = async (query = '') => (await rig.call('GET', `${DEFINITIONS}?${query}`)).body;
/** Sets a value of the viewer. In the seed user 1 is the administrator, user 2 the viewer, and attribute 1 `country`. */
const set = (userAttributeId: number, value: unknown) =>
  rig.post(VALUES, { userId: '2', userAttributeId: String(userAttributeId), value });
const valuesOf = async (userId: number) => (await rig.call('GET', `${VALUES}/${userId}`)).body;

test('ATTR-01 and ATTR-02 the attribute list has items with pageInfo and the same items as data with count, newest first', async () => {
  await rig.attribute('first', 'string');
  await rig.attribute('second', 'number');
  const body = await list();
  expect(body.items.map((one: { name: string }) => one.name)).toEqual(['second', 'first', 'country']);
  expect(body).toMatchObject({ data: body.items, count: 3, pageInfo: { hasNextPage: false } });
});

test('ATTR-03 the attribute list can be limited to one type or to one exact name', async () => {
  for (const type of TYPES) await rig.attribute(`one_${type}`, type);
  for (const type of TYPES.slice(1)) expect(await list(`type=${type}`)).toMatchObject({ count: 1 });
  expect(await list('name=one_number')).toMatchObject({ count: 1, items: [{ type: 'number' }] });
  expect(await list('name=one_num')).toMatchObject({ count: 0, items: [] });
});

test('ATTR-04 and ATTR-05 an attribute of each of the five types is created; another type or an empty name answers 400', async () => {
  for (const type of TYPES) expect(await rig.attribute(`one_${type}`, type)).toMatchObject({ type });
  for (const body of [{ name: 'x', type: 'date' }, { name: '', type: 'string' }, { type: 'string' }]) {
    expect((await rig.post(DEFINITIONS, body)).status).toBe(400);
  }
});

test('ATTR-06 and ATTR-07 creating an attribute with a taken name answers 409, and with a name that is no identifier 400', async () => {
  expect((await rig.post(DEFINITIONS, { name: 'country', type: 'string' })).status).toBe(409);
  for (const name of ['a b', '1x', 'ä'])
    expect((await rig.post(DEFINITIONS, { name, type: 'string' })).status).toBe(400);
});

test('ATTR-08 and ATTR-09 PUT of an attribute changes label, description and default, and ignores name and type', async () => {
  const { id } = await rig.attribute('level', 'number');
  const labels = { displayName: 'Level', description: 'Trust', defaultValue: '3' };
  const { status, body } = await rig.call('PUT', `${DEFINITIONS}/${id}`, {
    body: { ...labels, name: 'x', type: 'string' },
  });
  expect([status, body]).toEqual([200, { id, name: 'level', type: 'number', ...labels }]);
  const cleared = await rig.call('PUT', `${DEFINITIONS}/${id}`, { body: { defaultValue: null } });
  expect(cleared.body).toMatchObject({ displayName: 'Level', defaultValue: null });
});

test('ATTR-10 and ATTR-11 deleting an attribute deletes its values, and DELETE or PUT of an unknown attribute answers 404', async () => {
  const { id } = await rig.attribute('level', 'number');
  await set(id, 3);
  expect((await rig.call('DELETE', `${DEFINITIONS}/${id}`)).status).toBe(200);
  expect(await valuesOf(2)).toEqual([]);
  expect((await rig.call('DELETE', `${DEFINITIONS}/${id}`)).status).toBe(404);
  expect((await rig.call('PUT', `${DEFINITIONS}/${id}`, { body: {} })).status).toBe(404);
});

test('ATTR-12 creating an attribute whose default is not of its type answers 400', async () => {
  for (const [type, bad, good] of [
    ['number', 'many', '1.5'],
    ['boolean', 'yes', 'true'],
    ['string_array', '[1]', '["a"]'],
    ['number_array', 'x', '[]'],
  ] as const) {
    expect((await rig.post(DEFINITIONS, { name: `bad_${type}`, type, defaultValue: bad })).status).toBe(400);
    expect((await rig.post(DEFINITIONS, { name: `good_${type}`, type, defaultValue: good })).status).toBe(
      200,
    );
  }
});

test('ATTR-13 and ATTR-14 setting an attribute value creates it and later replaces it; answers have ids as numbers', async () => {
  const { id } = await rig.attribute('level', 'number');
  await set(id, 1);
  expect((await set(id, 2)).body).toMatchObject({ userId: 2, userAttributeId: id, name: 'level', value: 2 });
  expect(await valuesOf(2)).toMatchObject([{ userId: 2, userAttributeId: id, value: 2 }]);
});

test('ATTR-15 attribute values with ids as JSON numbers answer 200, and 400 with the setting strictValueIds', async () => {
  const body = { userId: 2, userAttributeId: 1, value: 'DE' };
  expect((await rig.post(VALUES, body)).status).toBe(200);
  await rig.control('PATCH', '/settings', { strictValueIds: true });
  expect((await rig.post(VALUES, body)).status).toBe(400);
});

test('ATTR-16 and ATTR-17 each attribute type accepts a value in its JSON form, and answers 400 to the forms of other types', async () => {
  const good: Record<string, unknown> = {
    string: 'x',
    number: 1.5,
    boolean: false,
    string_array: ['a'],
    number_array: [1, 2],
  };
  for (const type of TYPES) {
    const { id } = await rig.attribute(`one_${type}`, type);
    for (const [form, value] of Object.entries(good)) {
      expect([type, form, (await set(id, value)).status]).toEqual([type, form, form === type ? 200 : 400]);
    }
  }
});

test('ATTR-18 and ATTR-19 an empty array is stored as a value; null or a missing value deletes the value of the user', async () => {
  const { id } = await rig.attribute('regions', 'string_array');
  await set(id, []);
  expect(await valuesOf(2)).toMatchObject([{ value: [] }]);
  expect((await set(id, null)).body.value).toBeNull();
  expect(await valuesOf(2)).toEqual([]);
  await set(id, ['a']);
  await set(id, undefined);
  expect(await valuesOf(2)).toEqual([]);
});

test('ATTR-20 setting a value of an unknown attribute, and setting or reading values of an unknown user, answer 404', async () => {
  expect((await set(99, 'x')).status).toBe(404);
  expect((await rig.post(VALUES, { userId: '99', userAttributeId: '1', value: 'x' })).status).toBe(404);
  expect((await rig.call('GET', `${VALUES}/99`)).status).toBe(404);
});

test('ATTR-21 the values of a user are returned as a bare array without those of other users', async () => {
  await set(1, 'DE');
  await rig.post(VALUES, { userId: '1', userAttributeId: '1', value: 'FR' });
  expect(await valuesOf(2)).toEqual([expect.objectContaining({ userId: 2, value: 'DE', type: 'string' })]);
});

test('ATTR-22 formattedValue of an attribute value that is null is the default of the attribute in its type', async () => {
  const { id } = await rig.attribute('level', 'number', { defaultValue: '7' });
  expect((await set(id, null)).body).toMatchObject({ value: null, formattedValue: 7 });
  expect((await set(id, 1)).body).toMatchObject({ value: 1, formattedValue: 1 });
});

test('ATTR-23 reading attribute values by the SCIM id of a user answers 400', async () => {
  const { scimId } = await rig.stored('viewer@acme.example');
  expect((await rig.call('GET', `${VALUES}/${scimId}`)).status).toBe(400);
});

test('ATTR-24 a user who is no administrator gets 200 for own attribute values, and 403 for reading or writing those of others', async () => {
  const key = rig.key('viewer');
  expect((await rig.call('GET', `${VALUES}/1`, { key })).status).toBe(403);
  expect((await rig.call('GET', `${VALUES}/2`, { key })).status).toBe(200);
  const body = { userId: '1', userAttributeId: '1', value: 'x' };
  expect((await rig.call('POST', VALUES, { key, body })).status).toBe(403);
});
