// Tests what plan says of a target on hold at which nothing differs.
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
}, 30_000);
afterAll(() => place.stop());

test('plan of an empty installation on hold says that the platform is as desired, and that it is on hold', async () => {
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
