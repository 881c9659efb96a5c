// Runs work once for all callers of one iteration of the event loop.

/** Returns a function that starts `work` in the next iteration of the event loop; callers until then share its result. */
export function oncePerTurn<T>(work: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  return () =>
    (next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      next = undefined;
      return work();
    }));
}
