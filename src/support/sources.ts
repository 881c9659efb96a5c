// Defines the form of times, and the sources of time and of identifiers: production passes systemClock and randomIds, tests
// pass sources that they control.
import { randomFillSync } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

/** Wall clock and sleeping. `now` is Unix time in milliseconds. */
export interface Clock {
  now(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, signal && { signal }).catch(() => undefined),
};

/** Latest time that a Date of JavaScript can have, Unix milliseconds. */
export const LATEST_MS = 8.64e15;

/** Converts Unix milliseconds to ISO 8601 in UTC. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();

/** Digits and letters of base 32, without letters that look like another one. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Source of identifiers; tests pass a deterministic one. */
export interface Ids {
  /** A new resource id: 20 lower-case base-32 characters, 100 random bits. */
  resource(): string;
  /** A new request or error id: 12 characters, 60 random bits. */
  request(): string;
}

/** Size of a block of random bytes. They are read in blocks, because a system call for each id costs more than the rest. */
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
    // The lower five bits of a byte select one of the 32 letters.
    for (const end = used + length; used < end; used++) id += ALPHABET[(drawn[used] ?? 0) & 31];
    return id;
  }

  return { resource: () => text(20), request: () => text(12) };
}

export const randomIds: Ids = createRandomIds();
