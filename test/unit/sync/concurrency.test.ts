// Tests the limit of concurrent calls against modelled platforms with latency and refusals.
import { createConcurrency, type Concurrency } from '../../../src/sync/calls/concurrency.ts';
import type { Clock } from '../../../src/support/sources.ts';

let nowMs = 0;
const clock = { now: () => nowMs } as Clock;
beforeEach(() => void (nowMs = 0));

type Platform = (underWay: number) => { status: number; durationMs: number };

/**
 * Runs rounds with as many calls as allowed.
 * @param isShort whether further calls waited for a slot
 * @returns the limit after each round
 */
function rounds(concurrency: Concurrency, platform: Platform, count: number, isShort = true): number[] {
  return Array.from({ length: count }, () => {
    const underWay = concurrency.limit();
    const calls = Array.from({ length: underWay }, () => platform(underWay));
    nowMs += Math.max(...calls.map(({ durationMs }) => durationMs));
    for (const call of calls) concurrency.ended(call, isShort);
    return concurrency.limit();
  });
}

const steady: Platform = () => ({ status: 200, durationMs: 20 });
/** A platform that serves `capacity` calls at once; further calls share its time. */
const sharing =
  (capacity: number): Platform =>
  (underWay) => ({ status: 200, durationMs: 20 * Math.max(1, underWay / capacity) });
/** A platform that refuses every call while more than `most` are under way. */
const refusing =
  (most: number, status = 429): Platform =>
  (underWay) =>
    underWay > most ? { status, durationMs: 2 } : { status: 200, durationMs: 20 };

test('under steady latency the limit of concurrent calls rises to its maximum', () => {
  const concurrency = createConcurrency({ least: 1, start: 8, most: 32 }, clock);
  expect(concurrency.limit()).toBe(8);
  const limits = rounds(concurrency, steady, 100);
  expect(limits.at(-1)).toBe(32);
  expect(Math.max(...limits)).toBe(32);
});

test('calls that never waited for a slot do not raise the limit of concurrent calls', () => {
  const concurrency = createConcurrency({ least: 1, start: 8, most: 32 }, clock);
  expect(rounds(concurrency, steady, 50, false).at(-1)).toBe(8);
});

test('a platform serves 12 calls at once and queues the rest → the limit of concurrent calls stays below 60', () => {
  const concurrency = createConcurrency({ least: 1, start: 8, most: 200 }, clock);
  const limits = rounds(concurrency, sharing(12), 400);
  expect(Math.max(...limits)).toBeLessThan(60);
  expect(Math.min(...limits)).toBeGreaterThanOrEqual(8);
});

test('latency rises for good → the limit of concurrent calls climbs back to its maximum', () => {
  const concurrency = createConcurrency({ least: 1, start: 8, most: 32 }, clock);
  rounds(concurrency, steady, 100);
  const slow: Platform = () => ({ status: 200, durationMs: 90 });
  const limits = rounds(concurrency, slow, 200);
  expect(Math.min(...limits)).toBe(8);
  expect(limits.at(-1)).toBe(32);
});

test.each([429, 503])(
  'refusals with %i lower the limit of concurrent calls to the capacity of the platform',
  (status) => {
    const concurrency = createConcurrency({ least: 1, start: 8, most: 32 }, clock);
    // Without the first 20 rounds, in which the limit falls from 8.
    const limits = rounds(concurrency, refusing(5, status), 200).slice(20);
    expect(Math.max(...limits)).toBeLessThanOrEqual(6);
    expect(Math.min(...limits)).toBeGreaterThanOrEqual(2);
  },
);

test('the platform refuses a number of concurrent calls → the limit does not reach this number again for a minute', () => {
  const concurrency = createConcurrency({ least: 1, start: 8, most: 32 }, clock);
  let refused = 0;
  const capped: Platform = (underWay) => {
    if (underWay > 12) refused++;
    return refusing(12)(underWay);
  };
  rounds(concurrency, capped, 10);
  // The limit has reached 13 once, and all 13 calls of that round were refused.
  expect(refused).toBe(13);
  const limits = rounds(concurrency, capped, 1000);
  expect(refused).toBe(13);
  expect(limits.at(-1)).toBe(12);
  nowMs += 60_000;
  rounds(concurrency, capped, 10);
  expect(refused).toBe(26);
});

test('simultaneous refusals lower the limit of concurrent calls only once', () => {
  const concurrency = createConcurrency({ least: 1, start: 8, most: 32 }, clock);
  rounds(concurrency, () => ({ status: 429, durationMs: 2 }), 1);
  expect(concurrency.limit()).toBe(4);
});

test('the limit of concurrent calls stays between its configured bounds', () => {
  const concurrency = createConcurrency({ least: 3, start: 4, most: 5 }, clock);
  expect(concurrency.limit()).toBe(4);
  expect(rounds(concurrency, refusing(0), 20).at(-1)).toBe(3);
  nowMs += 60_000;
  expect(rounds(concurrency, steady, 50).at(-1)).toBe(5);
  // Bounds that contradict each other give way to the start.
  expect(createConcurrency({ least: 9, start: 4, most: 2 }, clock).limit()).toBe(4);
});

test('answers with 500 and calls without an answer do not change the limit of concurrent calls', () => {
  const concurrency = createConcurrency({ least: 1, start: 8, most: 32 }, clock);
  expect(rounds(concurrency, () => ({ status: 500, durationMs: 2 }), 20).at(-1)).toBe(8);
  expect(rounds(concurrency, () => ({ status: 0, durationMs: 2 }), 20).at(-1)).toBe(8);
});
