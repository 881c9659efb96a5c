// Tests the schedule: a missed run is made up, several replicas run once, and `onDrift: report` writes nothing.
import { Redis } from 'ioredis';
import {
  type ScheduledScope,
  type Scheduler,
  startScheduler,
  isOverdue,
} from '../../src/reconcile/apply/schedule.ts';
import { type Clock, randomIds, systemClock } from '../../src/support/sources.ts';
import { createLogger } from '../../src/support/logger.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';

const HOUR = 3_600_000;
/** As in schedule.ts: interval of the looks whether a run is due. */
const LOOK_MS = 5000;
const ANN = 'ann@acme.example';
let bridge: Bridge;
let rec: Reconciling;
let prefix = '';
let offset = 0;
const schedulers: Scheduler[] = [];
/** A clock that is ahead of the system clock by `offset`, as the clock of Redis that the scopes read is. */
const clock: Clock = { now: () => Date.now() + offset, sleep: (ms, signal) => systemClock.sleep(ms, signal) };

beforeAll(async () => {
  bridge = await buildBridge({ configure: (config) => (prefix = config.redis.prefix) });
  rec = await openReconciling(bridge);
  await bridge.idp.createUser(ANN);
  await rec.untilSynced();
  await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
}, 30_000);
afterEach(async () => {
  await Promise.all(schedulers.splice(0).map((each) => each.stop()));
  await bridge.platform.control('PATCH', '/faults', {});
});
afterAll(async () => {
  await rec.stop();
  await bridge.stop();
});

const scopes = (): ScheduledScope[] =>
  rec.scopes.map((each) => {
    const runs = { ...each.scope.runs, now: () => Promise.resolve(clock.now()) };
    return { ...each, scope: { ...each.scope, clock, runs } };
  });

/** Starts a scheduler as one replica does. @returns its log */
function replica(onDrift: 'repair' | 'report' = 'repair', schedule: string | null = '0 3 * * *'): any[] {
  const fast: Clock = { ...clock, sleep: (ms, signal) => clock.sleep(ms === LOOK_MS ? 20 : ms, signal) };
  const lines: any[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  schedulers.push(
    startScheduler({ clock: fast, ids: randomIds, logger, random: Math.random }, scopes(), {
      schedule,
      timezone: 'UTC',
      onDrift,
      returnedTargetsNoted: Promise.resolve(),
    }),
  );
  return lines;
}
const reconciled = (log: any[]) => log.filter(({ msg }) => /^reconciled/.test(String(msg)));
const ended = (log: any[]) => eventually('the run has ended', () => reconciled(log).length === 1, 20_000);
const meddle = async () =>
  rec.meddle(
    'PATCH',
    `/api/scim/v2/Users/${(await bridge.platform.user(ANN))?.scimId}`,
    scimPatch({ op: 'replace', path: 'displayName', value: 'Meddled' }),
  );
const shownName = async () => (await bridge.platform.user(ANN))?.displayName;

test('a start after a missed schedule runs a reconcile at once and logs the reason', async () => {
  offset += 25 * HOUR;
  const log = replica();
  await ended(log);
  expect(reconciled(log)).toMatchObject([{ why: 'a run was missed', outcome: 'converged', joined: false }]);
}, 30_000);

test('two replicas have a due schedule → one run starts, and the second replica returns its report', async () => {
  offset += 25 * HOUR;
  // Long enough that the second replica starts while the first one runs.
  await bridge.platform.control('PATCH', '/faults', { latencyMs: 300 });
  await bridge.platform.forgetRequests();
  const logs = [replica(), replica()];
  await Promise.all(logs.map(ended));
  const lines = logs.flatMap(reconciled);
  expect(new Set(lines.map(({ run }) => run)).size).toBe(1);
  expect(lines.map(({ joined }) => joined).sort()).toEqual([false, true]);
  const lists = (await bridge.platform.requests()).filter(
    ({ method, path }) => method === 'GET' && path === '/api/scim/v2/Users',
  );
  expect(lists).toHaveLength(1);
}, 30_000);

test('onDrift: report lists differences without writes, and onDrift: repair writes them', async () => {
  await meddle();
  offset += 25 * HOUR;
  await bridge.platform.forgetRequests();
  const told = replica('report');
  await ended(told);
  expect(reconciled(told)).toMatchObject([
    {
      outcome: 'drifted',
      counts: { update: 1 },
    },
  ]);
  await expect(bridge.platform.writes()).resolves.toEqual([]);
  await expect(shownName()).resolves.toBe('Meddled');

  offset += 25 * HOUR;
  const repaired = replica('repair');
  await ended(repaired);
  expect(reconciled(repaired)).toMatchObject([{ outcome: 'converged', counts: { update: 1 } }]);
  await expect(shownName()).resolves.toBe(`Jo ${ANN}`);
}, 30_000);

test('the service stops during a run → the run does not count as failed, and the next start repeats it', async () => {
  const { runs } = rec.scopes[0]!.scope;
  const { last } = await runs.read();
  offset += 25 * HOUR;
  await bridge.platform.control('PATCH', '/faults', { latencyMs: 500 });
  replica();
  await eventually('the run has begun', () => runs.isRunning());
  await schedulers.splice(0)[0]?.stop();
  expect((await runs.read()).last).toEqual(last);
  await bridge.platform.control('PATCH', '/faults', {});
  const log = replica();
  await ended(log);
  expect(reconciled(log)).toMatchObject([{ why: 'a run was missed', outcome: 'converged' }]);
}, 30_000);

describe('a missed schedule', () => {
  const daily = (moment: Date): boolean => moment.getUTCHours() === 3 && moment.getUTCMinutes() === 0;
  const at = (text: string): number => Date.parse(`2026-05-${text}Z`);
  test.each([
    ['lay between the last run and now', '04T02:59:00', '04T03:05:00', true],
    ['the last run has served', '04T03:00:20', '04T12:00:00', false],
    ['is still to come', '04T03:00:20', '05T02:59:59', false],
    ['was due seconds ago, without a run since', '04T02:00:00', '04T03:00:10', true],
  ])(
    'a scheduled time that %s (last run %s, now %s) counts as missed: %s',
    (_situation, last, now, missed) => {
      expect(isOverdue(at(last), at(now), daily)).toBe(missed);
    },
  );

  test('a schedule counts as missed after a day without any run', () => {
    expect(isOverdue(at('01T03:00:00'), at('04T02:00:00'), () => false)).toBe(true);
  });
});

test('the scheduler cannot read damaged data → the error is logged once, and the scheduler tries again', async () => {
  const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  const key = `${prefix}:{default}:mapped:main`;
  await redis.rename(key, `${key}.kept`);
  await redis.rpush(key, 'damaged');
  const lines: any[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  let looks = 0;
  const fast: Clock = {
    ...clock,
    sleep: (ms, signal) => systemClock.sleep(ms === LOOK_MS ? (looks++, 20) : ms, signal),
  };
  schedulers.push(
    startScheduler({ clock: fast, ids: randomIds, logger, random: Math.random }, scopes(), {
      schedule: null,
      timezone: 'UTC',
      onDrift: 'report',
      returnedTargetsNoted: Promise.resolve(),
    }),
  );
  await eventually('several looks were made', () => looks > 5);
  await redis.del(key);
  await redis.rename(`${key}.kept`, key);
  redis.disconnect();
  const errors = lines.filter(({ msg }) => /whether a reconcile is due/.test(String(msg)));
  expect(errors).toMatchObject([{ target: 'main', connection: 'default' }]);
});

test('without a schedule, the platform is away during the run of the start → the run is repeated after a while, once the platform is back', async () => {
  offset += 25 * HOUR;
  await bridge.platform.control('PATCH', '/faults', { status5xx: { share: 1, status: 503 } });
  const log = replica('repair', null);
  await eventually('the run of the start has ended', () => reconciled(log).length === 1, 30_000);
  expect(reconciled(log)).toMatchObject([{ why: 'a run was missed', outcome: 'unproven' }]);
  await bridge.platform.control('PATCH', '/faults', {});
  const manyLooks = () => new Promise((resolve) => setTimeout(resolve, 300));
  await manyLooks();
  expect(reconciled(log)).toHaveLength(1);
  offset += HOUR;
  await eventually('another run has ended', () => reconciled(log).length === 2, 20_000);
  expect(reconciled(log)[1]).toMatchObject({ why: 'the last run was not complete', outcome: 'converged' });
  offset += HOUR;
  await manyLooks();
  expect(reconciled(log)).toHaveLength(2);
}, 60_000);
