// Tests that a message about a held change says only once that the guard holds it.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}, 30_000);
afterAll(() => place.stop());

test.each([
  [['status'], /held by the guard since \S+, as of the last sync: the deactivation$/m],
  [['plan'], /held by the guard since \S+, the deactivation$/m],
  [['log'], /held by the guard {2}the deactivation/],
  [['exceptions'], /held by the guard, as of the last sync: the deactivation\. /],
  [['explain', ANN, '--all'], /Held: the deactivation\.[^]*held by the guard, as above/],
])('the output of the command %j says only once that the guard holds a change', async (args, words) => {
  const { text } = await place.commands.run(...args);
  expect(text).toMatch(words);
  expect(text).not.toMatch(/held by the guard.*the guard holds/i);
  expect(text).not.toMatch(/Held: the guard holds/);
});
