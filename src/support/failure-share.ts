// The share of failures among what happened lately, in memory that does not grow.
import type { Clock } from './clock.ts';

export interface FailureShare {
  note: (failed: boolean) => void;
  /** 0..1 over the last window. */
  share: () => number;
}

const PARTS = 60;

/**
 * A window in sixty parts. With `atLeast`, a handful of events is never much of a share: the first failure out of one
 * says little.
 */
export function createFailureShare(
  { clock }: { clock: Clock },
  { windowMs, atLeast }: { windowMs: number; atLeast: number },
): FailureShare {
  const totals = new Array<number>(PARTS).fill(0);
  const failures = new Array<number>(PARTS).fill(0);
  const now = (): number => Math.floor((clock.now() * PARTS) / windowMs);
  let latest = now();

  /** Empties the parts that time has passed over. @returns the current one */
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
