// Limits how many pieces of work run at the same time; further work waits in order.

/**
 * Creates the limit, which may change while work waits.
 * @param limit returns the number of slots; called whenever work may start
 */
export function createSlots(limit: () => number) {
  const queue: (() => void)[] = [];
  let running = 0;
  function next(): void {
    while (running < limit() && queue.length > 0) {
      running++;
      queue.shift()?.();
    }
  }
  return {
    /**
     * Runs `work` when a slot is free, in the order of the calls of `run`. With `ahead` it starts at once, even above the limit. It
     * still takes a slot, so other work waits until the number of running ones is below the limit again.
     */
    run: async <T>(work: () => Promise<T>, ahead = false): Promise<T> => {
      if (ahead || (queue.length === 0 && running < limit())) running++;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        running--;
        next();
      }
    },
    /** Returns the number of pieces of work that wait for a slot. */
    waiting: (): number => queue.length,
  };
}
