// Tests the comparison of entity tags: weak entity tags against If-Match and If-None-Match.
import { describe, expect, test } from '@jest/globals';
import { matches, weakVersion } from '../../../src/provider/answers.ts';

describe('entity tags (RFC 7644 §3.14)', () => {
  const headers: [string | undefined, boolean][] = [
    ['W/"3"', true],
    ['"3"', true],
    ['w/"3"', true],
    ['*', true],
    ['W/"2", W/"3"', true],
    ['W/"2"', false],
    ['W/"33"', false],
    ['', false],
    [undefined, false],
  ];
  test.each(headers)(
    'whether the header If-Match or If-None-Match %p matches version 3: %p',
    (header, expected) => {
      expect(matches(header, weakVersion(3))).toBe(expected);
    },
  );
});
