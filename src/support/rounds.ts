// Runs work in rounds until it is stopped.
import type { Logger } from './logger.ts';
import type { Clock } from './sources.ts';

/** Does one round and returns the wait before the next one, milliseconds. The signal aborts at the stop. */
type Round = (signal: AbortSignal) => Promise<number>;

/**
 * Starts the rounds.
 * @param round must not reject
 * @param firstMs wait before the first round, milliseconds
 * @returns a function that ends the rounds; it resolves when a running round has ended
 */
export function startRounds(clock: Clock, round: Round, firstMs = 0): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    if (firstMs > 0) await clock.sleep(firstMs, signal);
    while (!signal.aborted) await clock.sleep(await round(signal), signal);
  }

  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}

/**
 * Returns a round that logs its failures instead of rejecting.
 * @param options.failedMs wait after a failed round, milliseconds
 * @param options.message logged for the first failure in a row
 * @param options.reasonOf returns the reason of a failure for the log
 */
export function loggedRound(
  logger: Logger,
  round: Round,
  {
    failedMs,
    message,
    reasonOf,
  }: { failedMs: number; message: string; reasonOf: (error: unknown) => string },
): Round {
  let isFailing = false;
  return async (signal) => {
    try {
      const waitMs = await round(signal);
      isFailing = false;
      return waitMs;
    } catch (error) {
      if (!isFailing) logger.warn({ reason: reasonOf(error) }, message);
      isFailing = true;
      return failedMs;
    }
  };
}
