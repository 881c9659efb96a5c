// Computes the share of failures over a sliding time window, in constant memory.
import type { Clock } from './clock.ts';

export interface FailureShare {
  note: (failed: boolean) => void;
  /** Returns a number from 0 to 1 for the last window; 0 below `atLeast` events. */
  share: () => number;
}

const PARTS = 60;

/**
 * Creates a window of sixty slots. With fewer than `atLeast` events the share is 0: one failure out of one
 * event is not a trend.
 */
export function createFailureShare(
  { clock }: { clock: Clock },
  { windowMs, atLeast }: { windowMs: number; atLeast: number },
): FailureShare {
  const totals = new Array<number>(PARTS).fill(0);
  const failures = new Array<number>(PARTS).fill(0);
  const now = (): number => Math.floor((clock.now() * PARTS) / windowMs);
  let latest = now();

  /** Clears the slots that are older than the window. @returns the current slot */
  function move(): number {
    const part = Math.max(now(), latest);
    for (let old = Math.max(latest + 1, part - PARTS + 1); old <= part; old++) {
      totals[old % PARTS] = 0;
      failures[old % PARTS] = 0;
    }
    latest = part;
    return part % PARTS;
  }
  const sum = (parts: number[]): number => parts.reduce((all, each) => all + each, 0);

  return {
    note: (failed) => {
      const part = move();
      totals[part] = (totals[part] ?? 0) + 1;
      if (failed) failures[part] = (failures[part] ?? 0) + 1;
    },
    share: () => {
      move();
      return sum(failures) / Math.max(sum(totals), atLeast);
    },
  };
}
