// Tests the estimate of the size of compiled regular expressions.
import { patternSize } from '../../../src/support/pattern-size.ts';

test.each([
  ['abc', 3],
  ['x{1000}', 1000],
  ['x{2,}', 2],
  ['x{2,30}', 30],
  ['(ab){10}', 30],
  ['((x{10}){10}){10}', 1110],
  ['[a{9}]{3}', 3],
  ['\\x{41}{3}\\p{L}', 4],
  ['\\{3}', 3],
  ['x{1000', 6],
  ['(((', 0],
  [')x{5}', 6],
])('the pattern %s is estimated at %i steps', (source, steps) => {
  expect(patternSize(source)).toBe(steps);
});
