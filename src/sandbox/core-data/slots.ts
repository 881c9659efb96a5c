// Limits concurrent work; further work waits in order, so that many queries do not block the process.

/** Creates `count` slots. */
export function createSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    /** Runs `work` as soon as a slot is free. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The slot is passed directly to the next waiting task, so that no new task can take it.
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
