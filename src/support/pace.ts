// Lets long calculations give way, so that short requests are answered between their slices.

export interface Slice {
  /** Whether this calculation has had its time: then it has to `rest` before it goes on. */
  isOver(): boolean;
  /** Resolves in a later turn of the event loop, when it is the turn of this calculation; a new slice begins. */
  rest(): Promise<void>;
}

/** Longer slices keep others waiting, shorter ones cost more than they save. */
const SLICE_MS = 5;
/**
 * libuv accepts one connection in each iteration of the event loop. Without iterations between the slices, a probe on a
 * new connection waits for one slice per connection that was opened before it.
 */
const ITERATIONS_BETWEEN = 10;

/** Calls `work` after so many iterations of the event loop. */
export function afterIterations(count: number, work: () => void): void {
  setImmediate(count <= 1 ? work : () => afterIterations(count - 1, work));
}

/** @returns begins a calculation; one of them goes on for one slice, then others are served */
export function createPace(): () => Slice {
  const waiting: (() => void)[] = [];
  let isScheduled = false;

  function goOn(): void {
    waiting.shift()?.();
    isScheduled = waiting.length > 0;
    if (isScheduled) afterIterations(ITERATIONS_BETWEEN, goOn);
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
          if (!isScheduled) afterIterations(ITERATIONS_BETWEEN, goOn);
          isScheduled = true;
        }),
    };
  };
}
