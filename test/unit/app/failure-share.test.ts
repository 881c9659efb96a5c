// Tests the share of failed events within a sliding window.
import { createFailureShare } from '../../../src/app/instruments.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function window(atLeast = 1) {
  let now = 1_700_000_000_000;
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const share = createFailureShare({ clock }, { windowMs: HOUR, atLeast });
  const note = (failures: number, successes: number): void => {
    for (let n = 0; n < failures; n++) share.note(true);
    for (let n = 0; n < successes; n++) share.note(false);
  };
  return { share: share.share, note, pass: (ms: number) => (now += ms) };
}

test('the failure share is the share of failures, and 0 without events', () => {
  const { share, note } = window();
  expect(share()).toBe(0);
  note(30, 70);
  expect(share()).toBeCloseTo(0.3);
});

test('the failure share does not count events that are older than the window', () => {
  const { share, note, pass } = window();
  note(10, 0);
  pass(30 * MINUTE);
  note(0, 10);
  expect(share()).toBeCloseTo(0.5);
  pass(31 * MINUTE);
  expect(share()).toBe(0);
  note(10, 0);
  expect(share()).toBeCloseTo(0.5);
});

test('the failure share is 0 after a pause of many windows, because all failures are older than the window', () => {
  const { share, note, pass } = window();
  note(10, 0);
  pass(100 * HOUR + 7 * MINUTE);
  expect(share()).toBe(0);
  note(0, 1);
  expect(share()).toBe(0);
});

test('the share of few failures is computed over the minimum number of events', () => {
  const { share, note } = window(20);
  note(1, 0);
  expect(share()).toBeCloseTo(0.05);
  note(19, 0);
  expect(share()).toBe(1);
});

test('events before the clock is set back are neither lost nor counted twice in the failure share', () => {
  const { share, note, pass } = window();
  note(5, 5);
  pass(-10 * MINUTE);
  note(5, 5);
  expect(share()).toBeCloseTo(0.5);
});
