// Tests a person with a held change and an attribute that cannot be mapped: the dead letter names both.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const FAULT = 'level is string and cannot become a number';
let place: Place;
let ann: string;
beforeAll(async () => {
  const attributes = { level: { type: 'number', from: 'title' }, team: { type: 'string', from: 'nickName' } };
  const guard = { clearAttributes: { count: 0, percent: 0 } };
  place = await openPlace({ target: { guard, attributes } });
  ann = await place.idp.createUser(ANN, { title: '3', nickName: 'red' });
  await place.idle();
}, 30_000);
afterAll(() => place.stop());

const json = async (...args: string[]): Promise<any> => (await place.commands.run(...args, '--json')).json;
const heldNames = async (): Promise<string[]> =>
  (await json('exceptions', '--reason', 'Held')).map(({ name }: any) => name);
const deadLetters = async (): Promise<string[]> =>
  (await json('dead-letters', 'list')).map(({ message }: any) => message);

test('a person has a held clearing of an attribute and a mapping fault → dead letter, explain and exceptions name both', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: 'high' });
  await place.idp.patch(`/Users/${ann}`, { op: 'remove', path: 'nickName' });
  await place.idle();
  const both = `${FAULT}; the guard holds the emptying of attributes`;
  expect(await deadLetters()).toEqual([both]);
  const { text: explained } = await place.commands.run('explain', ANN);
  expect(explained.replace(/\s+/g, ' ')).toContain(both);
  expect(await heldNames()).toEqual([ANN]);
  expect((await place.platform.user(ANN))?.attributes).toMatchObject({ team: 'red', level: 3 });
});

test("after the approval of a held clearing of an attribute, the person's dead letter names only the mapping fault", async () => {
  const [{ id }] = await json('approvals', 'list');
  expect((await place.commands.run('approvals', 'approve', id, '--yes')).code).toBe(0);
  await place.idle();
  expect(await deadLetters()).toEqual([FAULT]);
  expect(await heldNames()).toEqual([]);
  expect((await place.platform.user(ANN))?.attributes.team ?? null).toBe(null);
});
