// Tests the progress of a first load that status shows while Redis refuses writes, and after an outage of the platform.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
afterEach(() => place.stop());

const PEOPLE = 500;
const loadNow = async () => (await place.commands.run('status', '--json')).json[0].load;

/** Pushes people to a target that takes fifteen calls a second, and waits until the time left is known. */
async function startLoad(options: Parameters<typeof openPlace>[0] = {}): Promise<void> {
  place = await openPlace({ target: { rateLimit: { requestsPerSecond: 15, burst: 10 } }, ...options });
  const { idp } = place;
  await Promise.all(
    Array.from({ length: PEOPLE }, (_each, index) => idp.createUser(`p${index}@acme.example`)),
  );
  await eventually('the time left is known', async () => (await loadNow())?.secondsLeft > 0, 30_000);
}

test('Redis takes no writes during a first load → status says so, and not that no worker runs', async () => {
  await startLoad({ ownRedis: true });
  await place.redis.config('SET', 'min-replicas-to-write', '1');
  await eventually(
    'the beats are old',
    async () => (await place.commands.run('status')).text.includes('silent for'),
    40_000,
  );
  const { text } = await place.commands.run('status');
  expect(await loadNow()).toMatchObject({ bound: 'redisRefuses', secondsLeft: null });
  expect(text).toContain('; Redis takes no writes, see below why');
  expect(text).not.toContain('no worker runs');
}, 120_000);

test('the platform fails for half a minute during a first load → the time left is shown again when a rate was measured since the end of the outage', async () => {
  await startLoad();
  const { platform } = place;
  const fault = (share: number) =>
    platform.control('PATCH', '/faults', { status5xx: { share, status: 503 } });
  await fault(1);
  await eventually('the breaker is open', async () => (await loadNow()).bound === 'breaker', 30_000);
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  await fault(0);
  const resumed = await eventually('calls go on', async () => {
    const load = await loadNow();
    return load.bound !== 'breaker' && load;
  });
  expect(resumed).toMatchObject({ perSecond: null, secondsLeft: null });
  const { text } = await place.commands.run('status');
  expect(text).toContain('done, the rate and the time left are not known yet');
  const known = await eventually('the rate is known', async () => {
    const load = await loadNow();
    return load.perSecond !== null && load;
  });
  const leftNow = known.total - known.done;
  await new Promise((resolve) => setTimeout(resolve, 5000));
  const later = await loadNow();
  // The rate before the end of the outage was 0 for 20 s and more, so a rate over it promises a multiple of this time.
  const seconds = leftNow / ((later.done - known.done) / 5);
  expect(known.secondsLeft).toBeLessThan(2 * seconds);
}, 120_000);
