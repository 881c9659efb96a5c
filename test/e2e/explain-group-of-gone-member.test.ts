// Tests the explanation of a group while a member's account and the definition of an attribute are gone at the platform.
import { atPlatform, byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { level: { type: 'number', from: 'title' } } } });
  const ann = await place.idp.createUser(ANN, { title: '3' });
  await place.idp.createGroup('north', [ann]);
  await place.idle();
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(ANN))?.scimId ?? ''}`);
  const { data, items = data } = await atPlatform(place, 'GET', '/api/v1/user-attributes');
  const { id } = items.find(({ name }: { name: string }) => name === 'level');
  await atPlatform(place, 'DELETE', `/api/v1/user-attributes/${id}`);
}, 60_000);
afterAll(() => place.stop());

test('the account of a member and an attribute definition are deleted at the platform → explain of the person names the definition, and explain of the group only the membership', async () => {
  const differencesOf = async (name: string): Promise<string[]> => {
    const [{ platform }] = (await place.commands.run('explain', name, '--json')).json;
    return platform.differences.map(({ action }: { action: string }) => action);
  };
  expect(await differencesOf('north')).toEqual(['addMember']);
  expect(await differencesOf(ANN)).toContain('defineAttribute');
});
