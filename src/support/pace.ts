// Lets long calculations give way, so that short requests are answered between their slices.

export interface Slice {
  /** Whether this calculation has had its time: then it has to `rest` before it goes on. */
  isOver(): boolean;
  /** Resolves in a later turn of the event loop, when it is the turn of this calculation; a new slice begins. */
  rest(): Promise<void>;
}

/** Longer slices keep others waiting, shorter ones cost more than they save. */
const SLICE_MS = 5;

/** @returns begins a calculation; in each turn of the event loop one of them goes on for one slice */
export function createPace(): () => Slice {
  const waiting: (() => void)[] = [];
  let isScheduled = false;

  function goOn(): void {
    waiting.shift()?.();
    isScheduled = waiting.length > 0;
    if (isScheduled) setImmediate(goOn);
  }

  return () => {
    let startedAt = performance.now();
    return {
      isOver: () => performance.now() - startedAt >= SLICE_MS,
      rest: () =>
        new Promise((resolve) => {
          waiting.push(() => {
            startedAt = performance.now();
            resolve();
          });
          if (!isScheduled) setImmediate(goOn);
          isScheduled = true;
        }),
    };
  };
}
