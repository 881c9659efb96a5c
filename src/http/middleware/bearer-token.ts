// Reads the bearer token of a request (RFC 6750), and compares it with a secret.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { digestOf } from '../../tokens/secret.ts';

/** Returns the token after `Bearer`; empty without one. */
export const bearerTokenOf = ({ headers }: IncomingMessage): string =>
  /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';

/**
 * Returns whether a presented token is the secret. An empty one never is, also when the secret is empty. Digests have one
 * length, so the time of the comparison does not depend on the secret.
 */
export const isSecret = (presented: string, secret: string): boolean =>
  timingSafeEqual(digestOf(presented), digestOf(secret)) && presented !== '';
