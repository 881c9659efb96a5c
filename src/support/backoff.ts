// How long to wait before the next attempt.

export interface BackoffOptions {
  /** Delay after the first failure, milliseconds. */
  baseMs: number;
  /** Longest delay, milliseconds. */
  maxMs: number;
}

/**
 * Exponential delay with half of it random, so that many resources that failed together do not return
 * together. Attempt 1 gives `baseMs / 2 .. baseMs`; `random` yields 0 (inclusive) to 1 (exclusive).
 */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number): number {
  const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(full / 2 + (full / 2) * random());
}
