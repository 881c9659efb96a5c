// A token bucket: so many at once, and so many a second after that.

export interface Bucket {
  /** Takes one at the time `now` (Unix milliseconds). @returns 0, or how many milliseconds until there is one */
  take(now: number): number;
}

export function createBucket({ perSecond, burst }: { perSecond: number; burst: number }): Bucket {
  let left = burst;
  let filledAt = -Infinity;
  return {
    take(now) {
      // A clock that was set back gives nothing, and takes nothing away.
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
