// Tests explain of a person with two differences, of which one is a conflict that no run writes.
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
  await place.idp.createUser(ANN, { displayName: 'Ann', title: 'A' });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

test('an account is renamed at the platform and an attribute has another type there → explain promises repair of all but the attribute, and sync repairs the name', async () => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  await fetch(`${platformUrl}/api/v1/user-attributes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'since', type: 'number' }),
  });
  await place.change(({ targets }) => {
    targets.main.attributes = { since: { type: 'string', from: 'title' } };
  });
  const account = (await place.platform.user(ANN))?.scimId ?? '';
  const rename = { op: 'replace', path: 'displayName', value: 'Somebody else' };
  await byHand(place, 'PATCH', `/Users/${account}`, rename);
  const { text } = await place.commands.run('explain', ANN, '--all');
  expect(text).toContain('brings it, except what needs a person first');
  expect(text).not.toContain('no run brings it');
  await place.commands.run('sync', ANN);
  await place.idle();
  expect((await place.platform.user(ANN))?.displayName).toBe('Ann');
}, 60_000);
