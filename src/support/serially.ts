// Runs tasks with the same name one after the other, and tasks with different names concurrently.

export type Serially = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that queues tasks by name, in this process only. The queue avoids retries of conflicting writes;
 * correctness does not depend on it. The map holds no promises, because a long-lived Map keeps removed values, and so their
 * results, reachable for a while.
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
