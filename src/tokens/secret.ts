// Creates token secrets and their stored digests.
import { hash } from 'node:crypto';

/** Prefix of token secrets, for secret scanners and for recognising tokens that may be stored in Redis. */
const MARK = 'scimb_';
const SECRET_BYTES = 32;

/** Returns a new token secret with 256 random bits. */
export const makeSecret = (randomBytes: (size: number) => Buffer): string =>
  MARK + randomBytes(SECRET_BYTES).toString('base64url');

/** Returns whether the text has the form of a token of this bridge. */
export const isMarked = (presented: string): boolean => presented.startsWith(MARK);

/**
 * Returns the SHA-256 digest of a secret. A slow salted hash is not needed, because 256 random bits cannot be guessed, and
 * it would slow down every request.
 */
export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');
