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

test('is the share of failures, and 0 before anything happened', () => {
  const { share, note } = window();
  expect(share()).toBe(0);
  note(30, 70);
  expect(share()).toBeCloseTo(0.3);
});

test('forgets what is older than the window, part by part', () => {
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

test('a silence of many windows leaves nothing behind', () => {
  const { share, note, pass } = window();
  note(10, 0);
  pass(100 * HOUR + 7 * MINUTE);
  expect(share()).toBe(0);
  note(0, 1);
  expect(share()).toBe(0);
});

test('a few failures are a share of the least number of events, not of themselves', () => {
  const { share, note } = window(20);
  note(1, 0);
  expect(share()).toBeCloseTo(0.05);
  note(19, 0);
  expect(share()).toBe(1);
});

test('a clock that goes back loses nothing and counts nothing twice', () => {
  const { share, note, pass } = window();
  note(5, 5);
  pass(-10 * MINUTE);
  note(5, 5);
  expect(share()).toBeCloseTo(0.5);
});
