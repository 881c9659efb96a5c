// Tests how control characters and formulas are escaped in terminal and CSV output.
import { describe, expect, test } from '@jest/globals';
import { spreadsheetCell } from '../../../src/support/csv-line.ts';
import { visible, visibleIn } from '../../../src/support/visible.ts';

describe('visible()', () => {
  test.each([
    ['ESC [ 2 J', '\u001b[2J', '\\u001b[2J'],
    ['OSC 52 and BEL', '\u001b]52;c;eA==\u0007', '\\u001b]52;c;eA==\\u0007'],
    ['CSI in one byte', '\u009b31m', '\\u009b31m'],
    ['line breaks', 'a\r\nb\u0085c\u2028d\u2029e', 'a\\r\\nb\\u0085c\\u2028d\\u2029e'],
    ['a backspace and a tab', 'a\bb\tc', 'a\\u0008b\\tc'],
    ['overrides of direction', 'user\u202etxt.exe\u2066x\u2069', 'user\\u202etxt.exe\\u2066x\\u2069'],
    ['letters without width', 'ad\u200bmin\ufeff', 'ad\\u200bmin\\ufeff'],
    ['tags beyond the first plane', 'a\u{e0041}', 'a\\udb40\\udc41'],
  ])('visible escapes %s', (_what, text, expected) => {
    expect(visible(text)).toBe(expected);
  });

  test.each(['Jo Doe', 'Ágnes Őry', '李小龍', 'محمد\u200c\u200f', '👩\u200d💻 dev', 'a → b – c'])(
    'visible(), which escapes control characters, leaves %s unchanged',
    (text) => {
      expect(visible(text)).toBe(text);
    },
  );

  test('JSON text with escaped control characters parses to the same document', () => {
    const value = { name: 'a\u001b\u009b\u202e\u2028\nb', list: ['\u007f'] };
    const text = visible(JSON.stringify(value));
    expect(JSON.parse(text)).toEqual(value);
    // eslint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u2028]/);
    expect(visibleIn(value)).toEqual({ name: 'a\\u001b\\u009b\\u202e\\u2028\\nb', list: ['\\u007f'] });
  });
});

describe('spreadsheetCell()', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['  =1', "  '=1"],
    ['＝1', "'＝1"],
    ['a;=HYPERLINK("x")', 'a;\'=HYPERLINK("x")'],
    ['Doe, =1+1', "Doe, '=1+1"],
    ['a\t=1', "a\t'=1"],
    ['a\n=1', "a\n'=1"],
    ['a=1; b - c', 'a=1; b - c'],
    ['', ''],
  ])('spreadsheetCell turns %j into %j', (text, expected) => {
    expect(spreadsheetCell(text)).toBe(expected);
  });

  test.each(['\t=1', '\r=1'])(
    'spreadsheetCell puts an apostrophe before a formula behind a tab or carriage return: %j',
    (text) => {
      expect(spreadsheetCell(text)).toMatch(/^'?\s*'/);
    },
  );
});
