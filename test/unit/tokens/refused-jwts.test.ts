// Tests how often refused JWTs are logged.
import { errors } from 'jose';
import { createLogger } from '../../../src/support/logger.ts';
import { createRefusedJwtLog } from '../../../src/tokens/refused-jwts.ts';

test('repeated refusals of JWTs are logged once a minute with the number of refusals left out', () => {
  let now = 0;
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(line) });
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const logRefused = createRefusedJwtLog({ clock, logger }, 'https://issuer.example.com');
  const refuse = (): void => logRefused('a.b.c', new errors.JWSSignatureVerificationFailed());

  for (let n = 0; n < 1000; n++) refuse();
  logRefused('a.b.c', new errors.JWKSNoMatchingKey());
  logRefused('a.b.c', new TypeError('unusable key'));
  now += 59_999;
  refuse();
  now += 1;
  refuse();
  now += 60_000;
  refuse();

  expect(lines.map((line) => JSON.parse(line)).map(({ code, suppressed }) => [code, suppressed])).toEqual([
    ['ERR_JWS_SIGNATURE_VERIFICATION_FAILED', 0],
    ['ERR_JWKS_NO_MATCHING_KEY', 0],
    [undefined, 0],
    ['ERR_JWS_SIGNATURE_VERIFICATION_FAILED', 1000],
    ['ERR_JWS_SIGNATURE_VERIFICATION_FAILED', 0],
  ]);
});
