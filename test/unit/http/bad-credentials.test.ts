// Tests the delay after wrong tokens from one address.
import { createBadCredentials } from '../../../src/http/middleware/bad-credentials.ts';

const NOW = 1_800_000_000_000;
const create = (maxAddresses = 100) => createBadCredentials(3, { maxAddresses });
const times = (count: number, note: () => number): number[] => Array.from({ length: count }, note);

test('an address with a fourth wrong token above a limit of three waits until the end of the minute, and another address does not', () => {
  const bad = create();
  expect(times(4, () => bad.note('wrong', '1.2.3.4', NOW))).toEqual([0, 0, 0, 60_000]);
  expect(bad.note('wrong', '1.2.3.5', NOW)).toBe(0);
  expect(bad.note('wrong', '1.2.3.4', NOW + 59_000)).toBe(1000);
  expect(bad.note('wrong', '1.2.3.4', NOW + 60_000)).toBe(0);
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
  ['2001:db8:1:2::1', '2001:0DB8:0001:0002::9', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['::1', '::2', true],
  ['2001:db8::1', '2001:db8:0:0:5::', true],
])('whether %s and %s count as one client address for wrong tokens: %p', (one, other, same) => {
  const bad = create();
  times(3, () => bad.note('wrong', one, NOW));
  expect(bad.note('wrong', other, NOW) > 0).toBe(same);
});

test('with room for two addresses, a wrong token from a third address replaces the address with the oldest attempt', () => {
  const bad = create(2);
  times(3, () => bad.note('wrong', 'a', NOW));
  times(3, () => bad.note('wrong', 'b', NOW));
  expect(bad.note('wrong', 'a', NOW)).toBeGreaterThan(0);
  bad.note('wrong', 'c', NOW);
  expect(bad.note('wrong', 'b', NOW)).toBe(0);
});

test('a request without a token does not count as a wrong token', () => {
  const bad = create();
  times(9, () => bad.note('', '1.2.3.4', NOW));
  expect(bad.note('wrong', '1.2.3.4', NOW)).toBe(0);
});

test('an address at the limit of wrong tokens is reported once a minute', () => {
  const told: string[] = [];
  const bad = createBadCredentials(3, { onReached: (address) => told.push(address) });
  times(2, () => bad.note('wrong', '1.2.3.4', NOW));
  expect(told).toEqual([]);
  times(9, () => bad.note('wrong', '1.2.3.4', NOW));
  times(9, () => bad.note('wrong', '1.2.3.4', NOW + 60_000));
  expect(told).toEqual(['1.2.3.4', '1.2.3.4']);
});
