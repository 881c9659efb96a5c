// Generates identifiers that are short, opaque and safe in URLs, file names and Redis keys.
import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Source of identifiers; tests pass a deterministic one. */
export interface Ids {
  /** A new resource id: 20 lower-case base-32 characters, 100 random bits. */
  resource(): string;
  /** A new request or error id: 12 characters, 60 random bits. */
  request(): string;
}

/** Random bytes are read in blocks, because one system call per id costs more than the rest of the work. */
const DRAW_BYTES = 4096;

function createRandomIds(): Ids {
  const drawn = Buffer.alloc(DRAW_BYTES);
  let used = DRAW_BYTES;

  function text(length: number): string {
    if (used + length > DRAW_BYTES) {
      randomFillSync(drawn);
      used = 0;
    }
    let id = '';
    for (const end = used + length; used < end; used++) id += ALPHABET[(drawn[used] ?? 0) & 31];
    return id;
  }

  return { resource: () => text(20), request: () => text(12) };
}

export const randomIds: Ids = createRandomIds();
