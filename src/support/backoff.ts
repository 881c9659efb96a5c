// Computes the delay before the next attempt.

interface BackoffOptions {
  /** Delay after the first failure, milliseconds. */
  baseMs: number;
  /** Longest delay, milliseconds. */
  maxMs: number;
}

/**
 * Returns an exponential delay in milliseconds. Its second half is random, so that resources that failed together do not
 * retry together. The delay after attempt 1 is from `baseMs / 2` to `baseMs`. `random` returns a number from 0 to below 1.
 */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number): number {
  const full = Math.min(options.maxMs, options.baseMs * 2 ** (attempt - 1));
  return Math.round(full / 2 + (full / 2) * random());
}
