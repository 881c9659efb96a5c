// Tests that status and doctor name a process whose clock differs from the clock of Redis, and that the times of its reconciles are
// those of Redis.
import { systemClock } from '../../src/support/sources.ts';
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
}, 30_000);
afterAll(() => place.stop());

test('the clock of one process is 90 s behind → status and doctor name only this process, with its start by the clock of Redis', async () => {
  const startsAt = Date.now();
  const late = { ...systemClock, now: () => systemClock.now() - 90_000 };
  await place.start('worker', '1.0.0', late);
  const status = await place.commands.run('status');
  expect(status.text).toMatch(
    /worker pod-worker .*, last beat \d s ago, clock (89|90|91) s behind, compared with Redis/,
  );
  const [, started = ''] = /pod-worker .*, started (\S+),/.exec(status.text) ?? [];
  expect(Math.abs(Date.parse(started) - startsAt)).toBeLessThan(20_000);
  const { text } = await place.commands.run('doctor');
  expect(text).toMatch(
    /! fleet: worker pod-worker .* clock (89|90|91) s behind, compared with Redis\. Set the clocks by NTP/,
  );
  expect(text).toMatch(/✔ fleet: all /);
  expect(text.match(/compared with Redis/g)).toHaveLength(1);
});

test.each([
  ['ahead', 7_200_000],
  ['behind', -7_200_000],
])(
  'the clock of a process is 2 h %s → the times of its reconcile are those of Redis',
  async (_way, offMs) => {
    const asked = Date.now();
    const app = await place.start('all', '1.0.0', { ...systemClock, now: () => systemClock.now() + offMs });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const at = `http://127.0.0.1:${app.port}`;
    const answer = await fetch(`${at}/admin/v1/reconcile`, { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(202);
    await eventually('the reconcile is stored', async () => {
      const { reconcile } = (await place.commands.run('status', '--json')).json[0];
      return reconcile.last?.endedAt >= asked && reconcile.lastSuccessAt === reconcile.last.endedAt;
    });
    const { last } = (await place.commands.run('status', '--json')).json[0].reconcile;
    expect(last.startedAt).toBeGreaterThanOrEqual(asked);
    expect(last.endedAt).toBeLessThanOrEqual(Date.now());
    const health = (await (await fetch(`${at}/health`, { headers })).json()) as any;
    expect(health.components['target main'].reconcileAgeMs).toBeGreaterThanOrEqual(0);
    expect(health.components['target main'].reconcileAgeMs).toBeLessThan(60_000);
    expect((await place.commands.run('status')).text).not.toContain('nothing was compared completely since');
  },
  30_000,
);

test('the clock of a process is 2 h ahead → this process shows an operation of another process as running, with the times of Redis', async () => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const asked = Date.now();
  const ahead = await place.start('api', '1.0.0', {
    ...systemClock,
    now: () => systemClock.now() + 7_200_000,
  });
  const [own, other] = [place.port, ahead.port].map((port) => `http://127.0.0.1:${port}/admin/v1`);
  await place.platform.control('PATCH', '/faults', { latencyMs: 3000 });
  for (const [starts, looks] of [
    [own, other],
    [other, own],
  ]) {
    const started = await fetch(`${starts}/plan`, { method: 'POST', headers, body: '{}' });
    const { id } = (await started.json()) as { id: string };
    const seen = (await (await fetch(`${looks}/operations/${id}`, { headers })).json()) as any;
    expect(seen).toMatchObject({ id, state: 'running' });
    expect(seen.startedAt).toBeGreaterThanOrEqual(asked);
    expect(seen.updatedAt).toBeLessThanOrEqual(Date.now());
  }
  await place.platform.control('PATCH', '/faults', {});
}, 30_000);

const HOUR_MS = 3_600_000;

/** Sets the end of the last complete reconcile to a time before now. */
async function lastReconciled(agoMs: number): Promise<void> {
  const key = await place.key('reconcile:main');
  const last = JSON.parse(String(await place.redis.hget(key, 'last')));
  const endedAt = Date.now() - agoMs;
  await place.redis.hset(key, { last: JSON.stringify({ ...last, endedAt }), lastSuccessAt: endedAt });
}

test.each([
  ['3 days ahead', 72, 1, false],
  ['3 days behind', -72, 50, true],
])(
  'the clock of a host is %s → status and doctor show the age of the last reconcile by the clock of Redis',
  async (_way, offHours, agoHours, isOld) => {
    await place.stopApps();
    await lastReconciled(agoHours * HOUR_MS);
    const { now } = Date;
    Date.now = () => now() + offHours * HOUR_MS;
    try {
      for (const command of ['status', 'doctor']) {
        const { text } = await place.commands.run(command);
        expect(text.includes('nothing was compared completely since')).toBe(isOld);
      }
    } finally {
      Date.now = now;
    }
  },
  30_000,
);

test('the clock of the service is 5 h behind → the service makes up a missed reconcile at its start', async () => {
  await place.stopApps();
  await lastReconciled(26 * HOUR_MS);
  const started = Date.now();
  await place.start('all', '1.0.0', { ...systemClock, now: () => systemClock.now() - 5 * HOUR_MS });
  await eventually('the reconcile has ended', async () => {
    const { reconcile } = (await place.commands.run('status', '--json')).json[0];
    return reconcile.lastSuccessAt >= started;
  });
}, 30_000);
