// Tests the parser of whole numbers in options.
import { toWhole } from '../../../src/cli/whole-number.ts';

test.each(['', ' ', '1.5', '-1', 'x'])(
  'the option value %j is refused where a whole number from 0 is expected',
  (text) => {
    expect(() => toWhole(0, Infinity)(text)).toThrow('Say a whole number from 0.');
  },
);

test('the option value 0 is accepted where a whole number from 0 is expected', () => {
  expect(toWhole(0, Infinity)('0')).toBe(0);
});
