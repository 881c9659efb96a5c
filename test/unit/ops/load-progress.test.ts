// Tests how the progress of a load is judged: rate, time left, and what bounds it.
import type { FleetProcess, TargetWork } from '../../../src/directory/fleet/fleet-store.ts';
import {
  judgeLoad,
  loadRate,
  loadText,
  type LoadSurroundings,
} from '../../../src/ops/status/load-progress.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const worker = (target: Partial<TargetWork> = {}, processor = 0.1): FleetProcess => ({
  id: 'w1',
  role: 'worker',
  version: '1.0.0',
  host: 'host',
  port: 8080,
  pid: 7,
  startedAt: NOW - 60_000,
  sentAt: NOW,
  lastBeatAt: NOW - 2000,
  beatAgeMs: 2000,
  silent: false,
  work: {
    processor,
    targets: { main: { calls: 50, delayed: 0, waiting: 0, queued: 3, busy: 0.9, ...target } },
  },
});
const backlog = (change: object = {}) => ({
  now: NOW,
  dirty: 600,
  inflight: 400,
  due: 200,
  oldestMs: 40_000,
  load: {
    startedAt: NOW - 40_000,
    done: 400,
    samples: [
      { at: NOW - 1000, done: 390 },
      { at: NOW - 7000, done: 330 },
      { at: NOW - 14_000, done: 260 },
      { at: NOW - 20_000, done: 200 },
    ],
  },
  ...change,
});
const around = (change: Partial<LoadSurroundings> = {}): LoadSurroundings => ({
  target: 'main',
  isRedisRefusing: false,
  isOnHold: false,
  hasMoved: false,
  isBreakerOpen: false,
  processes: [worker()],
  ...change,
});

test('the progress of a load shows the rate of the last minute, and the remaining time at this rate', () => {
  expect(judgeLoad(backlog(), around())).toEqual({
    since: NOW - 40_000,
    done: 400,
    total: 1000,
    perSecond: 10,
    secondsLeft: 60,
    bound: 'latency',
  });
});

test('samples that are older than a minute do not count for the rate of a load', () => {
  const samples = Array.from({ length: 14 }, (_each, index) => {
    const age = 5000 * (index + 1);
    return { at: NOW - age, done: Math.max(0, 600 - age / 100) };
  });
  expect(loadRate(backlog({ load: { startedAt: NOW - 80_000, done: 600, samples } }))).toBe(10);
});

test('a backlog without a load has null as progress', () => {
  expect(judgeLoad(backlog({ load: null }), around())).toBeNull();
});

test('the rate of a load measured over less than four seconds is not shown', () => {
  const young = backlog({ load: { startedAt: NOW - 2000, done: 3, samples: [{ at: NOW - 2000, done: 0 }] } });
  expect(judgeLoad(young, around())).toMatchObject({ perSecond: null, secondsLeft: null });
});

test('the worker of a load is gone or its target pauses for long → no remaining time is shown, although the rate is known', () => {
  const silent = { processes: [{ ...worker(), silent: true }] };
  for (const change of [silent, { pausedUntil: NOW + 3_600_000 }])
    expect(judgeLoad(backlog(), around(change))).toMatchObject({ perSecond: 10, secondsLeft: null });
});

test.each([
  ['the breaker closed', backlog(), { resumedAt: NOW - 2000 }],
  [
    'sampling began again',
    backlog({
      load: {
        startedAt: NOW - 40_000,
        done: 400,
        samples: [
          { at: NOW - 3000, done: 390 },
          { at: NOW - 20_000, done: 200 },
        ],
      },
    }),
    {},
  ],
])('%s less than four seconds ago → rate and time left are not known', (_name, state, change) => {
  const progress = judgeLoad(state, around(change));
  expect(progress).toMatchObject({ perSecond: null, secondsLeft: null });
  expect(progress && loadText(progress, 'main')).toContain(
    'done, the rate and the time left are not known yet',
  );
});

test('the breaker closed some seconds ago → the rate is measured since then', () => {
  const resumed = backlog({
    load: {
      startedAt: NOW - 40_000,
      done: 400,
      samples: [1000, 3000, 5000, 7000].map((age) => ({ at: NOW - age, done: 400 - age / 100 })),
    },
  });
  expect(judgeLoad(resumed, around({ resumedAt: NOW - 6000 }))).toMatchObject({ perSecond: 10 });
});

test('no worker has measured for a minute → the rate of a load is 0', () => {
  const old = backlog({
    load: { startedAt: NOW - 90_000, done: 3, samples: [{ at: NOW - 80_000, done: 0 }] },
  });
  expect(loadRate(old)).toBe(0);
  expect(judgeLoad(old, around({ processes: [] }))).toMatchObject({ bound: 'noWorker', secondsLeft: null });
});

test('no worker has stored the start of a load → its progress begins at the oldest waiting change, without a rate', () => {
  const unseen = backlog({ load: { startedAt: null, done: 0, samples: [] } });
  expect(judgeLoad(unseen, around({ processes: [] }))).toMatchObject({
    since: NOW - 40_000,
    done: 0,
    total: 600,
    perSecond: null,
    bound: 'noWorker',
  });
});

test.each<[string, string | null, object, Partial<LoadSurroundings>]>([
  ['a Redis that takes no writes', 'redisRefuses', {}, { isRedisRefusing: true, processes: [] }],
  ['a hold', 'hold', {}, { isOnHold: true }],
  ['an address that changed', 'address', {}, { hasMoved: true }],
  ['an open breaker', 'breaker', {}, { isBreakerOpen: true }],
  ['a silent worker while a command syncs', 'noWorker', {}, { processes: [{ ...worker(), silent: true }] }],
  ['a pause longer than the time of the rate', 'pause', {}, { pausedUntil: NOW + 61_000 }],
  ['a short pause', 'latency', {}, { pausedUntil: NOW + 5000 }],
  [
    'a pause while nothing was done in the last minute',
    'rateLimit',
    {
      due: 0,
      inflight: 2,
      load: { startedAt: NOW - 40_000, done: 0, samples: [{ at: NOW - 30_000, done: 0 }] },
    },
    { pausedUntil: NOW + 5000 },
  ],
  ['marks that are not due', 'waiting', { due: 0, inflight: 2 }, {}],
  ['calls that wait for the rate limit', 'rateLimit', {}, { processes: [worker({ delayed: 40 })] }],
  ['pauses that delay a tenth of the calls', 'rateLimit', {}, { processes: [worker({ delayed: 5 })] }],
  [
    'a rare pause, after which the slots are mostly free',
    'rateLimit',
    {},
    { processes: [worker({ delayed: 1, busy: 0.1 })] },
  ],
  ['full slots and a rare delay', 'latency', {}, { processes: [worker({ delayed: 1 })] }],
  [
    'free slots and nothing that holds calls back',
    null,
    {},
    { processes: [worker({ queued: 0, busy: 0.1 })] },
  ],
  ['slots that wait for their first answers', 'latency', {}, { processes: [worker({ calls: 0, busy: 0 })] }],
  ['a pause without calls', 'rateLimit', {}, { processes: [worker({ calls: 0, waiting: 8 })] }],
  ['a busy event loop', 'processor', {}, { processes: [worker({}, 0.97)] }],
  [
    'free slots and a half-busy event loop',
    'processor',
    {},
    { processes: [worker({ queued: 0, busy: 0.1 }, 0.6)] },
  ],
  ['full slots', 'latency', {}, { processes: [worker({}, 0.6)] }],
  ['no measure yet', null, {}, { processes: [worker({ calls: 0, queued: 0, busy: 0 })] }],
])('a load with %s has the `bound` %s in its progress', (_name, expected, change, surroundings) => {
  expect(judgeLoad(backlog(change), around(surroundings))?.bound).toBe(expected);
});

test('a load is slowed by a rate limit → its progress text has count, rate, remaining time and the setting of this limit', () => {
  const progress = judgeLoad(backlog(), around({ processes: [worker({ delayed: 40 })] }));
  expect(progress && loadText(progress, 'main')).toBe(
    'loading since 2026-03-01T11:59:20.000Z: 400 of 1000 done, 10 a second, about 60 s left; ' +
      'the rate limit bounds it (targets.main.rateLimit, or pauses that the platform asks for)',
  );
});
