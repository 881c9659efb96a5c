// Tests an API key that is read again at each call.
import { toTransportOptions } from '../../../src/platform/connect.ts';

test('the API key changes between two calls → the second call sends the new key, and both keys are redacted', () => {
  let token = 'key-of-yesterday-0123456789';
  const options = toTransportOptions({ url: 'https://acme.example.com', token: () => token });
  expect(options.authorize('rest')).toEqual({ authorization: 'Bearer key-of-yesterday-0123456789' });
  token = 'key-of-today-0123456789';
  expect(options.authorize('rest')).toEqual({ authorization: 'Bearer key-of-today-0123456789' });
  expect(options.authorize('scim')).toEqual({ authorization: 'Bearer key-of-today-0123456789' });
  expect(options.redact('key-of-today-0123456789 key-of-yesterday-0123456789')).toBe('[redacted] [redacted]');
});

test('an API key with characters that HTTP headers forbid is refused at start, and after a rotation at its first use', () => {
  const url = 'https://acme.example.com';
  expect(() => toTransportOptions({ url, token: () => 'a b' })).toThrow(/token/);
  let scimToken = 'good-key-0123456789';
  const options = toTransportOptions({ url, token: 'key-0123456789', scimToken: () => scimToken });
  scimToken = 'bad\nkey';
  expect(() => options.authorize('scim')).toThrow(/scimToken/);
});
