// Creates token secrets and their stored digests.
import { hash } from 'node:crypto';

/** Start of every created secret, for secret scanners, and to tell which tokens may be stored in Redis. */
const PREFIX = 'scimb_';
const SECRET_BYTES = 32;

/** Returns a new token secret with 256 random bits. */
export const makeSecret = (randomBytes: (size: number) => Buffer): string =>
  PREFIX + randomBytes(SECRET_BYTES).toString('base64url');

/** Returns whether a presented token starts like a created one. Every other token can only be one of the settings. */
export const hasTokenPrefix = (presented: string): boolean => presented.startsWith(PREFIX);

/**
 * Returns the SHA-256 digest of a secret. A slow salted hash is not needed, because 256 random bits cannot be guessed, and
 * it would slow down every request.
 */
export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');
