// Tests what plan says of a target on hold, at which nothing differs or a person is protected.
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { users: { protected: ['boss@acme.example'] } } });
}, 30_000);
afterAll(() => place.stop());

test('plan of an empty installation on hold says that the platform is as desired and that all writes are stopped', async () => {
  await place.commands.run('hold', '--note', 'before the first load');
  const { code, text } = await place.commands.run('plan');
  expect([code, text]).toEqual([
    0,
    expect.stringContaining(
      'nothing to write. The platform is as desired, and all writes are stopped, see below.',
    ),
  ]);
  expect(text).toContain('Target main: on hold since');
});

test('plan counts a target on hold and its protected person as 2 exceptions, and lists both', async () => {
  await place.commands.run('release');
  await place.idp.createUser('boss@acme.example');
  await place.idle();
  await place.commands.run('hold');
  const { text } = await place.commands.run('plan');
  expect(text).toContain('nothing to write, but the platform is not as desired: 2 exceptions, see below.');
  expect(text).toContain('! 2 exceptions, until a person acts');
  expect(text).toContain('User boss@acme.example: protected since');
}, 30_000);
