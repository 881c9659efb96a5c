// Tests that the log is filtered by the words that it prints.
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
});
afterAll(() => place.stop());

test('a write is refused → log --status refused shows the same entry as --status failure, and no other', async () => {
  const rules = [{ method: 'POST', path: '/Groups$', status5xx: { status: 403 } }];
  await place.platform.control('PATCH', '/faults', { rules });
  await place.idp.createUser('ann@acme.example');
  await place.idp.createGroup('north', []);
  await place.idle();
  const entriesOf = async (status: string) =>
    (await place.commands.run('log', '--status', status)).text.split('\n').filter((line) => line !== '');
  const refused = await entriesOf('refused');
  expect(refused).toHaveLength(1);
  expect(refused[0]).toMatch(/north\s+create refused/);
  expect(await entriesOf('failure')).toEqual(refused);
}, 60_000);
