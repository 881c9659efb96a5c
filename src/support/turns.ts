// Limits concurrent work of one kind; further work waits in a bounded queue for a bounded time.

/** Thrown when the work was not admitted in time. The work was not started, so the caller may retry. */
export class Busy extends Error {
  override name = 'Busy';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('too much work at once');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface TurnLimits {
  /** Limit of concurrent work; one owner may use half of it. */
  atOnce: number;
  /** Longest queue of one owner. */
  queue: number;
  /** Longest wait in the queue, milliseconds. */
  waitMs: number;
}

export interface Turns {
  /** Waits for admission. @returns a function that releases the slot @throws Busy, or the reason of `signal` */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** Runs `work` once it is admitted. @throws as `enter` */
  run<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T>;
}

interface Owner {
  running: number;
  waiting: number;
}

interface Waiter {
  owner: Owner;
  start(): void;
}

const RETRY_AFTER_SECONDS = 2;

/** @returns a function that creates the turns of one owner */
export function createTurns({ atOnce, queue, waitMs }: TurnLimits): () => Turns {
  const mostEach = Math.max(1, Math.floor(atOnce / 2));
  const waiters: Waiter[] = [];
  let running = 0;

  const isFree = (owner: Owner): boolean => running < atOnce && owner.running < mostEach;

  function begin(owner: Owner): void {
    running++;
    owner.running++;
  }

  function end(owner: Owner): void {
    running--;
    owner.running--;
    const next = waiters.findIndex((waiter) => isFree(waiter.owner));
    if (next >= 0) waiters.splice(next, 1)[0]?.start();
  }

  function wait(owner: Owner, signal: AbortSignal | undefined): Promise<void> {
    if (owner.waiting >= queue) throw new Busy(RETRY_AFTER_SECONDS);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        owner.waiting--;
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const leave = (reason: Error): void => {
        settle();
        waiters.splice(waiters.indexOf(waiter), 1);
        reject(reason);
      };
      const onAbort = (): void => leave(signal?.reason as Error);
      const timer = setTimeout(() => leave(new Busy(RETRY_AFTER_SECONDS)), waitMs);
      const waiter: Waiter = {
        owner,
        start: () => {
          settle();
          begin(owner);
          resolve();
        },
      };
      owner.waiting++;
      waiters.push(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  return () => {
    const owner: Owner = { running: 0, waiting: 0 };
    async function enter(signal?: AbortSignal): Promise<() => void> {
      signal?.throwIfAborted();
      if (isFree(owner)) begin(owner);
      else await wait(owner, signal);
      let isHeld = true;
      return () => {
        if (isHeld) end(owner);
        isHeld = false;
      };
    }
    return {
      enter,
      async run(work, signal) {
        signal?.throwIfAborted();
        if (isFree(owner)) begin(owner);
        else await wait(owner, signal);
        try {
          return await work();
        } finally {
          end(owner);
        }
      },
    };
  };
}
