import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ScimError } from '../../../src/scim/index.ts';
import { checkBody, scanBody } from '../../../src/scim/json.ts';

const isRefused = (text: string): boolean => {
  try {
    checkBody(JSON.parse(text));
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ScimError);
    return true;
  }
};
const isSound = (text: string): boolean => {
  try {
    return scanBody(Buffer.from(text));
  } catch (error) {
    expect(error).toBeInstanceOf(ScimError);
    return false;
  }
};
const nested = (depth: number, [open = '', close = '']: string[]): string =>
  open.repeat(depth) + '1' + close.repeat(depth);

test.each([
  ['half a pair', String.raw`{"a":"\ud800"}`],
  ['half a pair in a name', String.raw`{"\uDFFF":1}`],
  ['half a pair behind a backslash', String.raw`{"a":"\\\ud800"}`],
  ['33 lists', nested(33, ['[', ']'])],
  ['33 objects', nested(33, ['{"a":', '}'])],
  ['33 of both', nested(17, ['{"a":[', ']}'])],
])('%s is refused, and its text is not sound', (_what, text) => {
  expect(isRefused(text)).toBe(true);
  expect(isSound(text)).toBe(false);
});

test.each(['{"a":"é😀","b":[{"c":1}]}', nested(32, ['[', ']']), '"\\n"', 'null'])('%j is sound', (text) => {
  expect(isSound(text)).toBe(true);
});

test('nothing that is sound is refused', () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 40 }), fc.json().map((text) => JSON.parse(text) as unknown));
  const texts = fc.oneof(value.map((each) => JSON.stringify(each)), fc.string({ unit: 'binary' }).map((each) => JSON.stringify(each)));
  fc.assert(fc.property(texts, (text) => !(isSound(text) && isRefused(text))), { numRuns: 2000 });
}); // prettier-ignore
