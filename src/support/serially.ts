// Work on one name is done in the order it came; work on different names runs side by side.

export type Serially = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** One queue per name, in memory, gone when it is empty. Saves retries; correctness never rests on it. */
export function createSerially(): Serially {
  const tails = new Map<string, Promise<unknown>>();
  return <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const before = tails.get(name);
    const run = before ? before.then(work, work) : work();
    tails.set(name, run);
    const leave = (): void => {
      if (tails.get(name) === run) tails.delete(name);
    };
    run.then(leave, leave);
    return run;
  };
}
