// Implements `Continue wait`: a slow query keeps running, and a repeated request gets its result (contract 5.1).
import { systemClock } from '../../support/sources.ts';

type Waited<T> = { readonly kind: 'done'; readonly result: T } | { readonly kind: 'wait' };

interface Running<T> {
  readonly result: Promise<T>;
  askedAtMs: number;
}

/** A result that is not fetched for this long is dropped. */
const FORGET_MS = 60_000;

export function createSlowQueries<T>(now: () => number = () => performance.now()) {
  const running = new Map<string, Running<T>>();

  function dropForgotten(): void {
    for (const [key, { askedAtMs }] of running) if (now() - askedAtMs > FORGET_MS) running.delete(key);
  }
  return {
    /** Starts `run`, or joins the run with the same key. @returns `wait` when it takes longer than `waitMs` */
    async ask(key: string, waitMs: number, run: () => Promise<T>): Promise<Waited<T>> {
      dropForgotten();
      const entry = running.get(key) ?? { result: run(), askedAtMs: now() };
      entry.askedAtMs = now();
      running.set(key, entry);
      // A failure stays in `result` for a repeated request, and must not count as unhandled until then.
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
