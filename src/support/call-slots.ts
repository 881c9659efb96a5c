// Limits how many pieces of work run at the same time. The limit may change while work waits.

export interface CallSlots {
  /**
   * Runs `work` when a slot is free, in the order of the calls. With `ahead` it starts at once, even above the limit. It
   * still takes a slot, so other calls wait until the number of running ones is below the limit again.
   */
  run<T>(work: () => Promise<T>, ahead?: boolean): Promise<T>;
  /** Number of calls that wait for a slot. */
  waiting(): number;
}

/** @param limit returns the number of slots; called whenever a call may start */
export function createCallSlots(limit: () => number): CallSlots {
  const queue: (() => void)[] = [];
  let running = 0;
  function next(): void {
    while (running < limit() && queue.length > 0) {
      running++;
      queue.shift()?.();
    }
  }
  return {
    run: async (work, ahead = false) => {
      if (ahead || (queue.length === 0 && running < limit())) running++;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        running--;
        next();
      }
    },
    waiting: () => queue.length,
  };
}
