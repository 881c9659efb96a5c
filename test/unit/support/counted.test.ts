// Tests counts with their nouns.
import { expect, test } from '@jest/globals';
import { counted } from '../../../src/support/counted.ts';

test.each([
  [0, 'change', undefined, '0 changes'],
  [1, 'change', undefined, '1 change'],
  [2, 'entry', 'entries', '2 entries'],
])('counted(%i, %s, %s) returns "%s"', (count, one, many, text) => {
  expect(counted(count, one, many)).toBe(text);
});
