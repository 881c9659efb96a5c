// Tests that status and doctor name a process whose clock differs from the clock of Redis.
import { systemClock } from '../../src/support/sources.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
}, 30_000);
afterAll(() => place.stop());

test('status and doctor name a process whose clock is 90 s behind, and no other', async () => {
  const late = { ...systemClock, now: () => systemClock.now() - 90_000 };
  await place.start('worker', '1.0.0', late);
  const status = await place.commands.run('status');
  expect(status.text).toMatch(
    /worker pod-worker .*, last beat \d s ago, clock (89|90|91) s behind, compared with Redis/,
  );
  const { text } = await place.commands.run('doctor');
  expect(text).toMatch(
    /! fleet: worker pod-worker .* clock (89|90|91) s behind, compared with Redis\. Set the clocks by NTP/,
  );
  expect(text).toMatch(/✔ fleet: all /);
  expect(text.match(/compared with Redis/g)).toHaveLength(1);
});
