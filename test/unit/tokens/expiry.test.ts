// Tests how the expiry of a token is parsed, and when it is warned about.
import { parseExpiry, warningOf } from '../../../src/tokens/expiry.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const DAY = 86_400_000;

test.each([
  ['90d', NOW + 90 * DAY],
  ['12h', NOW + DAY / 2],
  ['30m', NOW + 1_800_000],
  ['4w', NOW + 28 * DAY],
  ['2027-01-31', Date.parse('2027-01-31T00:00:00Z')],
  ['2028-02-29', Date.parse('2028-02-29T00:00:00Z')],
  ['2027-01-31T10:00:00+02:00', Date.parse('2027-01-31T08:00:00Z')],
])('the token expiry %s is parsed as the time %d', (text, at) => {
  expect(parseExpiry(text, NOW)).toEqual({ at });
});

test.each([
  ['', 'is not understood'],
  ['90', 'is not understood'],
  ['-5d', 'is not understood'],
  ['90 d', 'is not understood'],
  ['tomorrow', 'is not understood'],
  ['2027-13-45', 'is not understood'],
  ['2027-02-31', 'is not understood'],
  ['2027-04-31T00:00:00+02:00', 'is not understood'],
  ['2027', 'is not understood'],
  ['0d', 'is in the past'],
  ['2026-05-31', 'is in the past'],
])('the token expiry %p is refused because it %s', (text, fault) => {
  expect(parseExpiry(text, NOW)).toEqual({ fault: expect.stringContaining(fault) });
});

test.each([
  [31 * DAY, undefined],
  [30 * DAY, 30],
  [8 * DAY, 30],
  [7 * DAY, 7],
  [DAY + 1, 7],
  [DAY, 1],
  [1, 1],
  [0, 0],
  [-DAY, 0],
  [Infinity, undefined],
  [NaN, undefined],
])('a token that expires in %d ms is in the warning step of %p days', (left, limit) => {
  expect(warningOf(NOW + left, NOW)).toBe(limit);
});
