// Splits long calculations into slices, so that short requests are served between them.

export interface Slice {
  /** Returns whether the slice has used its time; then the calculation calls `rest` before it continues. */
  isOver(): boolean;
  /** Resolves in a later iteration of the event loop, when this calculation may continue; a new slice begins. */
  rest(): Promise<void>;
}

/** Length of a slice. Longer slices delay other requests; shorter ones cost more in switching. */
const SLICE_MS = 5;
/**
 * Number of iterations of the event loop between two slices. libuv accepts one connection per iteration. With too few iterations, a
 * health probe on a new connection would wait one slice for each connection that was opened before it.
 */
const ITERATIONS_BETWEEN = 10;

/** Calls `work` after `count` iterations of the event loop. */
export function afterIterations(count: number, work: () => void): void {
  setImmediate(count <= 1 ? work : () => afterIterations(count - 1, work));
}

/** Returns a function that begins a calculation. After each pause exactly one of the resting calculations continues. */
export function createPace(): () => Slice {
  const waiting: (() => void)[] = [];
  let isScheduled = false;

  function resumeNext(): void {
    waiting.shift()?.();
    isScheduled = waiting.length > 0;
    if (isScheduled) afterIterations(ITERATIONS_BETWEEN, resumeNext);
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
          if (!isScheduled) afterIterations(ITERATIONS_BETWEEN, resumeNext);
          isScheduled = true;
        }),
    };
  };
}

/** Runs a calculation that yields between short steps, and rests whenever its slice is over. @throws the reason of `signal` */
export async function inSlices<T>(
  steps: Generator<undefined, T>,
  slice: Slice,
  signal?: AbortSignal,
): Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (!slice.isOver()) continue;
    await slice.rest();
    signal?.throwIfAborted();
  }
}
