// Tests the scan of JSON text for depth and number of values before it is parsed.
import { expect, test } from '@jest/globals';
import { scanJson } from '../../../src/support/limits.ts';

const bounds = { maxDepth: 3, maxStructure: 10, maxText: 8 };
const check = (text: string): string | undefined => scanJson(Buffer.from(text), bounds)?.reason;

test.each([
  ['a plain value', '7'],
  ['as deep as allowed', '[[[1]]]'],
  ['as many brackets and commas as allowed', '[1,2,3,4,5,6,7,8,9]'],
  ['brackets and commas inside a text', '["[[[[,,,"]'],
  ['an escaped quote inside a text', String.raw`["a\"[[[["]`],
  ['an escaped backslash at the end of a text', String.raw`["a\\",1]`],
  ['a text that does not end', '["abc'],
  ['a backslash at the end', '["a\\'],
  ['an empty text', ''],
])('JSON text within the bounds has no fault: %s', (_, text) => expect(check(text)).toBeUndefined());

test.each([
  ['deeper than allowed', '[[{"a":[]}]]', 'is nested deeper than 3 levels'],
  ['more brackets and commas than allowed', '[1,2,3,4,5,6,7,8,9,0]', 'has more than 10 brackets and commas'],
  ['brackets behind an escaped backslash', String.raw`["\\",[[[1]]]]`, 'is nested deeper than 3 levels'],
  ['a longer text than allowed', '["123456789"]', 'holds a text of more than 8 bytes'],
  ['a longer name of a member than allowed', '{"123456789":1}', 'holds a text of more than 8 bytes'],
])('JSON text beyond the bounds has a fault: %s', (_, text, reason) => expect(check(text)).toBe(reason));

test('two million brackets are scanned within two seconds', () => {
  const began = Date.now();
  expect(scanJson(Buffer.from('[{},'.repeat(500_000)), { maxDepth: 1e9, maxStructure: 1e9 })).toBeUndefined();
  expect(Date.now() - began).toBeLessThan(2000);
});
