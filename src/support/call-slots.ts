// Limits how many pieces of work run at the same time. The limit may change while work waits.

export interface CallSlots {
  /**
   * Runs `work` when a slot is free, in order of the calls; `ahead`: starts at once and still takes a slot, so that the
   * next call waits for one slot more.
   */
  run<T>(work: () => Promise<T>, ahead?: boolean): Promise<T>;
  /** Number of calls that wait for a slot. */
  waiting(): number;
}

/** @param limit read whenever a slot may be given */
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
