// Tests the times of beats: at the start, every five seconds, sooner after a failure, and none after the stop.
import { BEAT_MS, type ProcessFacts } from '../../../src/directory/fleet/fleet-store.ts';
import { RETRY_MS, startBeats } from '../../../src/ops/status/beats.ts';
import type { Clock } from '../../../src/support/sources.ts';

const FACTS: ProcessFacts = {
  role: 'worker',
  version: '1.0.0',
  host: 'host',
  port: 8080,
  pid: 1,
  startedAt: 0,
  sentAt: 0,
};

/** A clock that the test sets. */
function handClock(): Clock & { pass: (ms: number) => Promise<void> } {
  let now = 0;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { at: now + ms, wake: () => sleepers.delete(sleeper) && resolve() };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', sleeper.wake, { once: true });
      }),
    pass: async (ms) => {
      now += ms;
      for (const sleeper of [...sleepers]) if (sleeper.at <= now) sleeper.wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

function rig(beat: () => Promise<void>) {
  const calls: string[] = [];
  const clock = handClock();
  const fleet = {
    beat: (id: string) => {
      calls.push(`beat ${id}`);
      return beat();
    },
    leave: (id: string) => {
      calls.push(`leave ${id}`);
      return Promise.resolve();
    },
  };
  return { calls, clock, beats: startBeats({ clock }, fleet, 'p1', () => FACTS) };
}

test('a process writes its heartbeat at its start and every five seconds, and leaves the list of processes when it stops', async () => {
  const { calls, clock, beats } = rig(() => Promise.resolve());
  await beats.started();
  expect(calls).toEqual(['beat p1']);
  await clock.pass(BEAT_MS - 1);
  expect(calls).toHaveLength(1);
  await clock.pass(1);
  expect(calls).toHaveLength(2);
  await beats.stop();
  await clock.pass(10 * BEAT_MS);
  expect(calls).toEqual(['beat p1', 'beat p1', 'leave p1']);
});

test('Redis refuses a heartbeat → it is tried again after a second, and the start of the process succeeds', async () => {
  let isAway = true;
  const { calls, clock, beats } = rig(() => (isAway ? Promise.reject(new Error('away')) : Promise.resolve()));
  await beats.started();
  await clock.pass(RETRY_MS);
  await clock.pass(RETRY_MS);
  expect(calls).toHaveLength(3);
  isAway = false;
  await clock.pass(RETRY_MS);
  await clock.pass(RETRY_MS);
  expect(calls).toHaveLength(4);
  await beats.stop();
});

test('while Redis does not answer, start and stop each wait a second at most, and no second heartbeat is sent', async () => {
  const { calls, clock, beats } = rig(() => new Promise(() => undefined));
  const started = beats.started();
  await clock.pass(1000);
  await started;
  await clock.pass(20 * BEAT_MS);
  expect(calls).toEqual(['beat p1']);
  const stopped = beats.stop();
  await clock.pass(1000);
  await stopped;
  expect(calls).toEqual(['beat p1']);
});

test('a process stops while a heartbeat is being written → it waits for the write, and then leaves the list of processes', async () => {
  let answer: () => void = () => undefined;
  const { calls, clock, beats } = rig(() => new Promise((resolve) => (answer = resolve)));
  const stopped = beats.stop();
  await clock.pass(1);
  expect(calls).toEqual(['beat p1']);
  answer();
  await stopped;
  expect(calls).toEqual(['beat p1', 'leave p1']);
});
