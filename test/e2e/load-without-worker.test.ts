// Tests that status promises no end of a first load whose worker is gone.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
afterAll(() => place.stop());

test('the last worker stops during a first load → status shows the rate so far and no remaining time, and says that no worker runs', async () => {
  place = await openPlace({ target: { rateLimit: { requestsPerSecond: 15, burst: 10 } } });
  const { commands, idp } = place;
  const load = async () => (await commands.run('status', '--json')).json[0].load;
  await Promise.all(Array.from({ length: 250 }, (_each, index) => idp.createUser(`p${index}@acme.example`)));
  await eventually('the rate is known', async () => (await load())?.secondsLeft > 0, 30_000);
  await place.stopApps();
  expect(await load()).toMatchObject({ bound: 'noWorker', secondsLeft: null, perSecond: expect.any(Number) });
  expect((await commands.run('status')).text).not.toContain(' left;');
}, 60_000);
