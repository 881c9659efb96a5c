// Tests that the wait for the first complete reconcile is counted over restarts, and by the configured schedule.
import { openPlace } from '../support/situation.ts';
import { eventually } from '../support/eventually.ts';
import { scrape } from '../support/scrape.ts';

const AWAITED = 'bridge_reconcile_awaited_since_timestamp_seconds';
const HOUR_MS = 3_600_000;

test('status and doctor report that the first scheduled reconcile is overdue, also after a restart', async () => {
  const place = await openPlace({ rest: { reconcile: { schedule: '0 * * * *' } } });
  const awaited = async () => (await scrape(place.port)).find(AWAITED)[0]?.value;
  const outputOf = async (command: string) => (await place.commands.run(command)).text;
  try {
    await eventually(
      'the wait has begun',
      async () => Math.abs(Date.now() / 1000 - ((await awaited()) ?? 0)) < 60,
    );
    await expect(outputOf('status')).resolves.not.toContain('no reconcile');

    const since = Date.now() - 3 * HOUR_MS;
    await place.redis.hset(await place.key(':reconcile:main'), 'expectedSince', String(since));
    await place.stopApps();
    await place.start();
    await eventually('the restart keeps the time', async () => (await awaited()) === since / 1000);
    const sentence = `no reconcile has compared everything yet, and the schedule expects one since ${new Date(since).toISOString()}`;
    await expect(outputOf('status')).resolves.toContain(sentence);
    await expect(outputOf('doctor')).resolves.toContain(sentence);

    expect((await place.commands.run('reconcile', '--yes')).code).toBe(0);
    await eventually('nothing is awaited any more', async () => (await awaited()) === undefined);
    await expect(outputOf('status')).resolves.not.toContain('no reconcile');
  } finally {
    await place.stop();
  }
}, 60_000);

test('reconcile.schedule is null → a stored due time of the first reconcile is removed, and no metric about it is exported', async () => {
  const place = await openPlace({ rest: { reconcile: { schedule: null } } });
  try {
    const key = await place.key(':tenant:main').then((name) => name.replace(':tenant:', ':reconcile:'));
    await place.redis.hset(key, { expectedSince: '1', expectedGapMs: '1' });
    await place.stopApps();
    await place.start();
    await eventually(
      'the note is removed',
      async () => (await place.redis.hexists(key, 'expectedSince')) === 0,
    );
    expect((await scrape(place.port)).find(AWAITED)).toEqual([]);
  } finally {
    await place.stop();
  }
}, 60_000);
