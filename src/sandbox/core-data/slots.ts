// So many at a time, the rest in line: a crowd of queries must not starve everything else in the process.

export interface Slots {
  /** Runs `work` as soon as a slot is free. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The slot passes straight to the next in line, so nobody can slip in between.
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
