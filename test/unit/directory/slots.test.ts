// Tests the slots of the history: which are read, in which order, and which count as empty.
import {
  addSeries,
  decodeRing,
  encodeValues,
  HISTORY_COLUMNS,
  HISTORY_RANGES,
  startOf,
} from '../../../src/directory/history/slots.ts';

const SPAN = { stepMs: 1000, slots: 4 };
const ring = (...texts: string[]) =>
  new Map(texts.map((text) => [String(Number(text.split(',')[0]) % 4), text]));

test('the last slot of each history range contains the present time', () => {
  expect(startOf(SPAN, 10_999)).toBe(7000);
  for (const span of Object.values(HISTORY_RANGES)) {
    const now = 1_800_000_123_456;
    const last = startOf(span, now) + (span.slots - 1) * span.stepMs;
    expect(last).toBeLessThanOrEqual(now);
    expect(now - last).toBeLessThan(span.stepMs);
  }
});

test('history values are read in the order of time, with null for slots without a stored value', () => {
  const places = ring('10,5,1', '8,3,', '7,2,2');
  expect(decodeRing('connection', places, SPAN, 10_500)).toEqual({
    pushes: [2, 3, null, 5],
    pushesRefused: [2, null, null, 1],
  });
});

test('a history slot that was stored for an earlier or later round of the ring is read as null', () => {
  expect(decodeRing('connection', ring('6,9,9', '11,9,9'), SPAN, 10_500).pushes).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test('a history slot that was stored with fewer columns is read with null for the missing columns', () => {
  expect(decodeRing('target', ring('10,4'), SPAN, 10_500)).toMatchObject({
    calls: [null, null, null, 4],
    drift: [null, null, null, null],
  });
});

test('history values are stored by column as whole numbers, and missing values as empty text', () => {
  expect(encodeValues('target', { calls: 3, lagMs: 12.6, held: 0, drift: -1 })).toBe('3,,,13,,,,,0,,,0,');
  expect(Object.keys(HISTORY_COLUMNS.target)).toHaveLength(13);
});

test('history series are summed slot by slot, and a slot that is null in every series stays null', () => {
  expect(
    addSeries([
      [1, null, null],
      [2, 3, null],
    ]),
  ).toEqual([3, 3, null]);
  expect(addSeries([])).toEqual([]);
});
