// Identifiers: short, opaque, safe in URLs, file names and Redis keys.
import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Source of identifiers; tests pass a predictable one. */
export interface Ids {
  /** A new resource id: 20 lower-case base-32 characters, 100 random bits. */
  resource(): string;
  /** A new request or error id: 12 characters, 60 random bits. */
  request(): string;
}

function randomText(length: number): string {
  let text = '';
  for (const byte of randomBytes(length)) text += ALPHABET[byte & 31];
  return text;
}

export const randomIds: Ids = {
  resource: () => randomText(20),
  request: () => randomText(12),
};
