// Tests the words about the end of an approval.
import { expiryText, unwrittenText } from '../../../src/cli/approval-view.ts';

const END = '2027-01-31T08:00:00.000Z';
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const left = (ms: number): string =>
  expiryText(END, ms, undefined).replace(/^expires \S+ \((.*)\), then .*$/, '$1');

test.each([
  [72 * HOUR_MS, 'in 72 h'],
  [72 * HOUR_MS - 20 * SECOND_MS, 'in 72 h'],
  [72 * HOUR_MS - 40 * SECOND_MS, 'in 71 h 59 min'],
  [HOUR_MS, 'in 1 h'],
  [HOUR_MS - 60 * SECOND_MS, 'in 59 min'],
  [20 * SECOND_MS, 'in less than 1 min'],
])('%d ms before an approval ends, its remaining time is shown as "%s"', (ms, words) => {
  expect(left(ms)).toBe(words);
});

test('the text about unwritten changes of an approval contains the time until the approval ends', () => {
  const approval = { expiresAt: END, leftMs: 72 * HOUR_MS, unwritten: 1, total: 2 } as Parameters<
    typeof unwrittenText
  >[0];
  expect(unwrittenText(approval)).toContain('(in 72 h)');
});
