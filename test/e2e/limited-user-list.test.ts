// Tests a comparison whose list of all console accounts is answered with 429: it waits, and makes no search for a single person.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

/** A list, which only the values of each account show. */
const LEVELS = { type: 'number_array', expression: '[$number(title)]' };
const PEOPLE = 6;

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { levels: LEVELS } } });
  for (let person = 0; person < PEOPLE; person++)
    await place.idp.createUser(`p${person}@acme.example`, { title: '1' });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

test('the list of all accounts is answered with 429 twice → plan repeats the request of the list, and makes no search for each person', async () => {
  const path = '^/api/v1/users$';
  const rule = { method: 'GET', path, times: 2, status429: { share: 1, retryAfter: 1 } };
  await place.platform.control('PATCH', '/faults', { rules: [rule] });
  await place.platform.forgetRequests();
  const { code, text } = await place.commands.run('plan', '--full');
  expect([code, text]).toEqual([0, expect.not.stringContaining('could not be read')]);
  const asked = (await place.platform.requests()).filter((request) => new RegExp(path).test(request.path));
  expect(asked.map(({ status }) => status)).toEqual([429, 429, 200]);
}, 60_000);
