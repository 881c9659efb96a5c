// Runs work in rounds until it is stopped. A failed round does not end the rounds.
import type { Logger } from './logger.ts';
import type { Clock } from './sources.ts';

/**
 * Starts the rounds.
 * @param round does one round and returns the wait before the next one, milliseconds; its signal aborts at the stop
 * @param options.failedMs wait after a failed round, milliseconds
 * @param options.message logged for the first failure in a row
 * @param options.end called after the last round; its errors are ignored
 * @returns a function that ends the rounds
 */
export function startRounds(
  { clock, logger }: { clock: Clock; logger: Logger },
  round: (signal: AbortSignal) => Promise<number>,
  options: { failedMs: number; message: string; end: () => Promise<unknown> },
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    let isFailing = false;
    while (!signal.aborted) {
      let waitMs = options.failedMs;
      try {
        waitMs = await round(signal);
        isFailing = false;
      } catch (error) {
        // Only the first of several failures in a row is logged.
        if (!isFailing) logger.warn({ reason: (error as Error).message }, options.message);
        isFailing = true;
      }
      // Ends at once when the rounds are stopped; never rejects.
      await clock.sleep(waitMs, signal);
    }
    await options.end().catch(() => undefined);
  }

  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}
