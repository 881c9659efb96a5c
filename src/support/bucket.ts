// Implements a token bucket: a burst size and a refill rate per second.

export interface Bucket {
  /**
   * Takes one token at the time `now` (Unix milliseconds). @returns 0 when taken, otherwise the milliseconds
   * until a token is available
   */
  take(now: number): number;
}

export function createBucket({ perSecond, burst }: { perSecond: number; burst: number }): Bucket {
  let left = burst;
  let filledAt = -Infinity;
  return {
    take(now) {
      // A clock that was set back neither adds nor removes tokens.
      const elapsedMs = Math.max(0, now - filledAt);
      left = Math.min(burst, left + (elapsedMs * perSecond) / 1000);
      filledAt = now;
      if (left >= 1) {
        left -= 1;
        return 0;
      }
      return Math.ceil(((1 - left) * 1000) / perSecond);
    },
  };
}
