// Tests the words for a platform that could not be reached.
import { PlatformConnection } from '../../../src/platform/errors.ts';

const CALL = { method: 'GET', route: '/api/v1/users/me' };
const wordsOf = (code: string | undefined): string =>
  new PlatformConnection(code, CALL, { redact: (text) => text }).message;

test.each([
  ['CERT_HAS_EXPIRED', 'has no connection: the TLS certificate has expired'],
  ['CERT_NOT_YET_VALID', 'has no connection: the TLS certificate is not accepted'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'has no connection: the TLS certificate is not accepted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'has no connection: the TLS certificate is not accepted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'has no connection: the TLS certificate is not accepted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'has no connection: the TLS certificate is not accepted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'has no connection: the TLS certificate is not accepted'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'lost or never had a connection'],
  ['ECONNREFUSED', 'lost or never had a connection'],
])(
  'the connection fails with %s → the message tells whether the certificate is the reason, and the code',
  (code, words) => {
    expect(wordsOf(code)).toBe(`GET /api/v1/users/me ${words} (${code})`);
  },
);

test('a connection that is lost without a code is told without one', () => {
  expect(wordsOf(undefined)).toBe('GET /api/v1/users/me lost or never had a connection');
});
