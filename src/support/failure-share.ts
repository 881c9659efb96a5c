// Measures the share of failed events within a sliding window. The window consists of SLOTS slots of equal length: an event counts
// in the slot of its time, and the oldest slots are cleared as time goes on.
import { total } from './counted.ts';
import type { Clock } from './sources.ts';

const SLOTS = 60;

export type FailureShare = ReturnType<typeof createFailureShare>;

/** @param options.atLeast a smaller number of events counts as this number */
export function createFailureShare(
  { clock }: { clock: Clock },
  { windowMs, atLeast }: { windowMs: number; atLeast: number },
) {
  const totals = new Array<number>(SLOTS).fill(0);
  const failures = new Array<number>(SLOTS).fill(0);
  /** Returns the number of the present slot, counted since 1970; its counts are at this number modulo SLOTS. */
  const presentSlot = (): number => Math.floor((clock.now() * SLOTS) / windowMs);
  let latest = presentSlot();

  /** Clears the slots that are older than the window. @returns the index of the present slot */
  function advance(): number {
    const slot = Math.max(presentSlot(), latest);
    for (let old = Math.max(latest + 1, slot - SLOTS + 1); old <= slot; old++) {
      totals[old % SLOTS] = 0;
      failures[old % SLOTS] = 0;
    }
    latest = slot;
    return slot % SLOTS;
  }

  return {
    note: (failed: boolean): void => {
      const index = advance();
      totals[index] = (totals[index] ?? 0) + 1;
      if (failed) failures[index] = (failures[index] ?? 0) + 1;
    },
    /**
     * Returns the share of failures in the last window, from 0 to 1. Fewer than `atLeast` events count as `atLeast`, so that
     * one failure of two events is not a share of 0.5.
     */
    share: (): number => {
      advance();
      return total(failures) / Math.max(total(totals), atLeast);
    },
  };
}
