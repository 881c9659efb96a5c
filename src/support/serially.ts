// Work on one name is done in the order it came; work on different names runs side by side.

export type Serially = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/**
 * One queue per name, in memory, gone when it is empty. Saves retries; correctness never rests on it.
 * The map holds who waits and never a result: a map that others come to and leave is slow to let go of what it held.
 */
export function createSerially(): Serially {
  const queues = new Map<string, (() => void)[]>();
  return async (name, work) => {
    const waiting = queues.get(name);
    if (waiting) await new Promise<void>((go) => waiting.push(go));
    else queues.set(name, []);
    try {
      return await work();
    } finally {
      const next = queues.get(name)?.shift();
      if (next) next();
      else queues.delete(name);
    }
  };
}
