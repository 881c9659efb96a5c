// Tests that a process refuses data of another version and says what to do.
import { dataVersionFault } from '../../../src/directory/fleet/data-version.ts';

test('stored data of the present version is accepted', () => {
  expect(dataVersionFault('2', 2)).toBeUndefined();
});

test.each([
  [
    'of a newer version',
    '3',
    /has version 3, and this scim-bridge knows version 2: start the newer scim-bridge/,
  ],
  [
    'of an older version without a migration',
    '1',
    /version 1, .* without a way from 1 to 2: update step by step/,
  ],
  ['without a readable version', 'one', /is no number: restore a backup/],
  ['of version zero', '0', /is no number/],
])('stored data %s is refused', (_name, stored, words) => {
  expect(dataVersionFault(stored, 2)).toMatch(words);
});
