// Tests the parser of whole numbers in options.
import { toWhole } from '../../../src/cli/whole-number.ts';

test.each(['', ' ', '1.5', '-1', 'x'])('%j is refused as a whole number from 0', (text) => {
  expect(() => toWhole(0, Infinity)(text)).toThrow('Say a whole number from 0.');
});

test('0 is a whole number from 0', () => {
  expect(toWhole(0, Infinity)('0')).toBe(0);
});
