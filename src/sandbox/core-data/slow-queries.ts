// Continue wait: a query that takes long goes on by itself, and whoever repeats it gets its answer (contract 5.1).
import { systemClock } from '../../support/clock.ts';

export type Waited<T> = { readonly kind: 'done'; readonly result: T } | { readonly kind: 'wait' };

export interface SlowQueries<T> {
  /** Starts `run`, or joins the run of the same key; `wait` when it takes longer than `waitMs`. */
  ask(key: string, waitMs: number, run: () => Promise<T>): Promise<Waited<T>>;
}

interface Running<T> {
  readonly result: Promise<T>;
  askedAtMs: number;
}

/** A query that nobody repeats for so long is dropped. */
const FORGET_MS = 60_000;

export function createSlowQueries<T>(now: () => number = () => performance.now()): SlowQueries<T> {
  const running = new Map<string, Running<T>>();

  function sweep(): void {
    for (const [key, { askedAtMs }] of running) if (now() - askedAtMs > FORGET_MS) running.delete(key);
  }
  return {
    async ask(key, waitMs, run) {
      sweep();
      const entry = running.get(key) ?? { result: run(), askedAtMs: now() };
      entry.askedAtMs = now();
      running.set(key, entry);
      // Somebody may come back for a failure too: it must not count as unhandled until then.
      entry.result.catch(() => undefined);
      const ready = new AbortController();
      const wait = systemClock.sleep(waitMs, ready.signal).then((): Waited<T> => ({ kind: 'wait' }));
      try {
        const first = await Promise.race([
          entry.result.then((result): Waited<T> => ({ kind: 'done', result })),
          wait,
        ]);
        if (first.kind === 'done') running.delete(key);
        return first;
      } catch (error) {
        running.delete(key);
        throw error;
      } finally {
        ready.abort();
      }
    },
  };
}
