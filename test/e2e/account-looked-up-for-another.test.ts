// Tests that a person whose adoption of an account was broken off, and who then gets another account, gets the values there.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const OLD_NAME = 'max@acme.example';
const NEW_NAME = 'quinn@acme.example';
/** The extension carries no truth values, so the list of values is read and written, by the account's id of the user list. */
const ATTRIBUTES = { vip: { type: 'boolean', from: 'userType' } };
const LISTS_OF_VALUES = '/user-attribute-values/';

let place: Place;
beforeEach(async () => (place = await openPlace({ target: { attributes: ATTRIBUTES } })));
afterEach(() => place.stop());

const faults = (rules: object[]): Promise<unknown> => place.platform.control('PATCH', '/faults', { rules });
const vipOf = async (userName: string): Promise<unknown> =>
  (await place.platform.user(userName))?.attributes.vip;

test("a new person with a leaver's userName is renamed while attribute values cannot be read, and a third person gets this userName → each account has the values of its own person", async () => {
  const former = await place.idp.createUser(OLD_NAME, { externalId: 'ext-former', userType: 'true' });
  await place.idle();
  await place.idp.send('DELETE', `/Users/${former}`);
  await place.idle();
  await faults([{ method: 'GET', path: LISTS_OF_VALUES, status5xx: true }]);
  await place.platform.forgetRequests();
  const quinn = await place.idp.createUser(OLD_NAME, { externalId: 'ext-quinn', userType: 'true' });
  await eventually('the values were asked for', async () =>
    (await place.platform.requests()).some(({ path }) => path.includes(LISTS_OF_VALUES)),
  );
  await place.idp.patch(`/Users/${quinn}`, { op: 'replace', path: 'userName', value: NEW_NAME });
  await faults([]);
  await place.idle();
  await place.idp.createUser(OLD_NAME, { externalId: 'ext-next', userType: 'false' });
  await place.idle();
  expect([await vipOf(NEW_NAME), await vipOf(OLD_NAME)]).toEqual([true, false]);
  await place.idp.patch(`/Users/${quinn}`, { op: 'remove', path: 'userType' });
  await place.idle();
  expect([await vipOf(NEW_NAME), await vipOf(OLD_NAME)]).toEqual([undefined, false]);
}, 60_000);
