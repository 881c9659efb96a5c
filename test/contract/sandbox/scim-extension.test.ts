// Tests user attributes in the SCIM extension (contract 2.4).
import { EXTENSION, startRig, USERS, type Rig } from './rig.ts';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(async () => {
  await rig.reset();
  await rig.attribute('clearance', 'number', { displayName: 'Level of trust' });
});
afterAll(() => rig.stop());

const attributesOf = async (userName: string) => (await rig.stored(userName)).attributes;

test('SCIM-56 a POST with the nested extension sets the attribute values that user-attribute-values returns', async () => {
  await rig.user('a@acme.example', { [EXTENSION]: { country: 'DE', clearance: 3 } });
  const { id } = await rig.stored('a@acme.example');
  const { body } = await rig.call('GET', `/api/v1/user-attribute-values/${id}`);
  expect(body).toMatchObject([
    { name: 'country', value: 'DE' },
    { name: 'clearance', value: 3 },
  ]);
});

test('SCIM-57 a POST with the extension in flat form sets the same values as the nested form', async () => {
  await rig.user('a@acme.example', { [`${EXTENSION}:country`]: 'FR' });
  expect(await attributesOf('a@acme.example')).toEqual({ country: 'FR' });
});

test('SCIM-58 a PATCH path sets one extension value and keeps the others', async () => {
  const user = await rig.user('a@acme.example', { [EXTENSION]: { country: 'DE', clearance: 3 } });
  const path = `${USERS}/${user.id}`;
  await rig.patch(path, { op: 'replace', path: `${EXTENSION}:country`, value: 'US' });
  expect(await attributesOf('a@acme.example')).toEqual({ country: 'US', clearance: 3 });
  await rig.patch(path, { op: 'add', value: { [`${EXTENSION}:clearance`]: 4 } });
  await rig.patch(path, { op: 'replace', value: { [EXTENSION]: { country: 'JP' } } });
  expect(await attributesOf('a@acme.example')).toEqual({ country: 'JP', clearance: 4 });
});

test('SCIM-59 PATCH remove of an extension attribute deletes its value', async () => {
  const user = await rig.user('a@acme.example', { [EXTENSION]: { country: 'DE' } });
  const { body } = await rig.patch(`${USERS}/${user.id}`, { op: 'remove', path: `${EXTENSION}:country` });
  expect(Object.keys(body)).not.toContain(EXTENSION);
  expect(await attributesOf('a@acme.example')).toEqual({});
});

test('SCIM-60 POST and PATCH with an unknown extension attribute answer 400 and apply nothing', async () => {
  const created = await rig.post(USERS, {
    userName: 'a@acme.example',
    [EXTENSION]: { country: 'DE', shoeSize: '9' },
  });
  expect(created.body).toMatchObject({ status: '400', scimType: 'invalidValue' });
  expect(await rig.stored('a@acme.example')).toBeUndefined();
  const user = await rig.user('a@acme.example');
  const off = { op: 'replace', path: 'active', value: false };
  for (const name of ['shoeSize', 'constructor', '__proto__']) {
    const bad = { op: 'replace', path: `${EXTENSION}:${name}`, value: 'x' };
    expect((await rig.patch(`${USERS}/${user.id}`, off, bad)).body.scimType).toBe('invalidPath');
  }
  expect((await rig.stored('a@acme.example')).active).toBe(true);
});

test('SCIM-61 a POST whose extension uses the label of an attribute in place of its name answers 400', async () => {
  const { body } = await rig.post(USERS, {
    userName: 'a@acme.example',
    [EXTENSION]: { 'Level of trust': 1 },
  });
  expect(body.status).toBe('400');
});

test('SCIM-62 a POST with an array, boolean or object in the extension answers 400 invalidValue', async () => {
  await rig.attribute('contractor', 'boolean');
  for (const extension of [{ country: ['DE'] }, { country: true }, { contractor: true }, { clearance: {} }]) {
    const { body } = await rig.post(USERS, { userName: 'a@acme.example', [EXTENSION]: extension });
    expect(body).toMatchObject({ status: '400', scimType: 'invalidValue' });
  }
});

test('SCIM-63 a number attribute in the extension accepts a JSON number and numeric text, and answers 400 to other text', async () => {
  await rig.user('a@acme.example', { [EXTENSION]: { clearance: 42 } });
  await rig.user('b@acme.example', { [EXTENSION]: { clearance: '42' } });
  expect([await attributesOf('a@acme.example'), await attributesOf('b@acme.example')]).toEqual(
    Array(2).fill({ clearance: 42 }),
  );
  const { body } = await rig.post(USERS, { userName: 'c@acme.example', [EXTENSION]: { clearance: 'high' } });
  expect(body.scimType).toBe('invalidValue');
});

test('SCIM-64 GET of a user has the attribute values in the nested extension, and its URN in schemas', async () => {
  const user = await rig.user('a@acme.example', { [`${EXTENSION}:country`]: 'DE' });
  const { body } = await rig.call('GET', `${USERS}/${user.id}`);
  expect(body[EXTENSION]).toEqual({ country: 'DE' });
  expect(body.schemas).toContain(EXTENSION);
});

test('SCIM-65 PUT without the extension keeps its attribute values, and null deletes one', async () => {
  const user = await rig.user('a@acme.example', { [EXTENSION]: { country: 'DE', clearance: 1 } });
  const put = (more: object) =>
    rig.call('PUT', `${USERS}/${user.id}`, { body: { userName: 'a@acme.example', ...more } });
  await put({});
  expect(await attributesOf('a@acme.example')).toEqual({ country: 'DE', clearance: 1 });
  await put({ [EXTENSION]: { country: null } });
  expect(await attributesOf('a@acme.example')).toEqual({ clearance: 1 });
});
