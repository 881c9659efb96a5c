// The form of the tokens that this bridge makes, and the form in which it keeps them.
import { hash } from 'node:crypto';

/** Tells people and secret scanners what was found, and the bridge that the token may be one of Redis. */
const MARK = 'scimb_';
const SECRET_BYTES = 32;

/** A new token: 256 random bits. */
export const makeSecret = (randomBytes: (size: number) => Buffer): string =>
  MARK + randomBytes(SECRET_BYTES).toString('base64url');

/** Whether this may be a token that the bridge made. */
export const isMarked = (presented: string): boolean => presented.startsWith(MARK);

/**
 * SHA-256, bare. Slow salted hashes protect secrets that people choose, because those can be guessed one by one; nobody
 * guesses 256 random bits, and every request would pay for the slowness.
 */
export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');
