// Tests bodies that are refused for structure or characters.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ScimError } from '../../../src/scim/index.ts';
import { checkBody, scanBody } from '../../../src/scim/json.ts';

const isRefused = (check: () => void): boolean => {
  try {
    check();
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ScimError);
    return true;
  }
};
const isRefusedParsed = (text: string): boolean => isRefused(() => checkBody(JSON.parse(text)));
const isRefusedUnparsed = (text: string): boolean => isRefused(() => scanBody(Buffer.from(text)));
const nested = (depth: number, [open = '', close = '']: string[]): string =>
  open.repeat(depth) + '1' + close.repeat(depth);

test.each([
  ['an unpaired surrogate', String.raw`{"a":"\ud800"}`],
  ['an unpaired surrogate in a name', String.raw`{"\uDFFF":1}`],
  ['an unpaired surrogate behind a backslash', String.raw`{"a":"\\\ud800"}`],
])('parsed JSON with %s is refused', (_what, text) => {
  expect(isRefusedParsed(text)).toBe(true);
});

test.each([
  ['33 nested lists', nested(33, ['[', ']'])],
  ['33 nested objects', nested(33, ['{"a":', '}'])],
  ['33 nested lists and objects', nested(17, ['{"a":[', ']}'])],
])('JSON with %s is refused as text and as parsed value', (_what, text) => {
  expect([isRefusedUnparsed(text), isRefusedParsed(text)]).toEqual([true, true]);
});

test.each([
  '{"a":"é😀","b":[{"c":1}]}',
  nested(32, ['[', ']']),
  String.raw`"\n"`,
  String.raw`"\"[["`,
  'null',
])('valid JSON within the bounds, %j, is accepted', (text) => {
  expect([isRefusedUnparsed(text), isRefusedParsed(text)]).toEqual([false, false]);
});

test('JSON text is refused for its depth before parsing exactly if its parsed value is refused', () => {
  const agrees = (value: unknown): boolean => {
    const text = JSON.stringify(value);
    return isRefusedUnparsed(text) === isRefusedParsed(text);
  };
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 40 }), agrees), { numRuns: 2000 });
});
