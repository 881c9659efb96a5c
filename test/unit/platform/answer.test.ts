// Tests how answers of the platform are read: redaction of secrets, messages, Retry-After and ids.
import { describe, expect, test } from '@jest/globals';
import { platformMessage, retryAfterMs, textId } from '../../../src/platform/readers.ts';
import { scimFilter } from '../../../src/platform/scim-resources.ts';
import { createRedactor, faultCode, redactedCause } from '../../../src/platform/redact.ts';

describe('redaction of secrets in messages', () => {
  const redact = createRedactor(['abc', 'abc"def', 'x/y']);

  test('redaction of two overlapping secrets leaves no remainder', () => {
    expect(redact('1 abc"def 2 abc 3')).toBe('1 [redacted] 2 [redacted] 3');
  });

  test('secrets are redacted also in JSON escapes and URL encoding', () => {
    expect(redact(String.raw`{"t":"abc\"def"} x%2Fy`)).toBe('{"t":"[redacted]"} [redacted]');
  });

  test('a redacted cause keeps name, code and message, and no other property', () => {
    const fault = Object.assign(new TypeError('bad abc'), { code: 'E1', data: 'payload', socket: {} });
    const copy = redactedCause(fault, redact);
    expect(copy).toMatchObject({ name: 'TypeError', message: 'bad [redacted]', code: 'E1' });
    expect(Object.keys(copy)).not.toContain('data');
    expect(redactedCause('text with a name', redact).message).toBe('string');
  });

  test('an AggregateError has the code of its first error', () => {
    expect(faultCode(new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })]))).toBe(
      'ECONNREFUSED',
    );
    expect(faultCode(undefined)).toBeUndefined();
  });
});

test.each([
  [
    '<html><head><title>413 Request\n Too Large</title></head><body>nginx</body></html>',
    '413 Request Too Large',
  ],
  ['<h1>Bad gateway</h1><p>Try later</p>', 'Bad gateway Try later'],
])('the message for the web page %j is %j', (page, message) => {
  expect(platformMessage(page, (text) => text)).toBe(message);
});

test('messages of the platform are shortened to 1,000 characters', () => {
  expect(platformMessage(JSON.stringify({ error: 'e'.repeat(5000) }), (text) => text)).toHaveLength(1000);
});

test.each([
  ['0', 0],
  ['1.5', 1500],
  [' 3 ', 3000],
  ['2026', 2026_000],
  ['Thu, 01 Jan 1970 00:00:07 GMT', 7000],
])('without a Date header, Retry-After %j means %j milliseconds', (value, expected) => {
  expect(retryAfterMs({ 'retry-after': value }, 0)).toBe(expected);
});

test.each(['-1', ''])('an invalid Retry-After %j is ignored', (value) => {
  expect(retryAfterMs({ 'retry-after': value }, 0)).toBeUndefined();
});

test('an escaped filter value cannot leave its quotes', () => {
  expect(scimFilter('userName', 'a" or active eq "\\')).toBe(String.raw`userName eq "a\" or active eq \"\\"`);
});

test.each([
  [1, '1'],
  ['01', '01'],
  [1.5, undefined],
  ['', undefined],
  [null, undefined],
])(
  'the id %j in an answer of the platform is read as the text %j, or refused (undefined)',
  (id, expected) => {
    expect(textId(id)).toBe(expected);
  },
);
