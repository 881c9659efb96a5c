// Masks the secrets of the effective settings, so that the settings can be shown and logged.
import { select, setAt } from './places.ts';
import type { Config } from './schema.ts';
import { parseRedisAddress } from '../support/redis-address.ts';
import { ADDRESS_PATTERNS, SECRET_PATTERNS } from './secrets.ts';

const MASK = '***';

/** Returns a copy of the settings with every secret masked, also the password in an address of Redis. */
export function printableConfig(config: Config): Config {
  const copy = structuredClone(config);
  for (const pattern of SECRET_PATTERNS) {
    for (const { keys, value } of select(copy, pattern)) if (value !== null) setAt(copy, keys, MASK);
  }
  for (const pattern of ADDRESS_PATTERNS) {
    for (const { keys, value } of select(copy, pattern)) setAt(copy, keys, maskAddress(String(value)));
  }
  // The text before and after a file reference may be part of the secret.
  for (const text of copy.secretFiles) text.parts = text.parts.filter((part) => typeof part !== 'string');
  return copy;
}

/** Masks the password and the values of the query in an address of Redis. A text that is no address is masked as a whole. */
function maskAddress(text: string): string {
  // `URL` cannot parse an address with several sentinels.
  if (!URL.canParse(text)) return typeof parseRedisAddress(text) === 'string' ? MASK : maskText(text);
  const url = new URL(text);
  // ioredis also reads options, the password among them, from the query.
  for (const name of [...url.searchParams.keys()]) url.searchParams.set(name, MASK);
  if (url.password) url.password = MASK;
  return url.toString();
}

/** Masks the password and all values of the query in a valid address of Redis. */
function maskText(text: string): string {
  return text.replace(/(:\/\/[^:/?#]*:)[^/?#]*@/, `$1${MASK}@`).replace(/(=)[^&#]*/g, `$1${MASK}`);
}
