// Tests that the dead letter of a person whom several accounts match names these accounts.
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { createByHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  // Under this profile an externalId identifies a person.
  const connections = { default: { profile: 'okta', tokens: [{ name: 'primary', secret: TOKEN }] } };
  place = await openPlace({ rest: { connections } });
}, 30_000);
afterAll(() => place.stop());

test('two accounts have the externalId of a pushed person → dead-letters list and explain name both, and neither is changed', async () => {
  const names = ['ann@old.example', 'ann@other.example'];
  for (const userName of names) await createByHand(place, 'Users', { userName, externalId: 'e-1' });
  await place.idp.createUser('ann@acme.example', { externalId: 'e-1' });
  await place.idle();
  for (const words of [
    ['dead-letters', 'list'],
    ['explain', 'ann@acme.example'],
  ]) {
    const { text } = await place.commands.run(...words);
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(
      /2 accounts match, (ann@old\.example, ann@other\.example|ann@other\.example, ann@old\.example): merge or delete all but one/,
    );
  }
  expect((await place.platform.writes()).filter(({ method }) => method !== 'POST')).toEqual([]);
}, 60_000);
