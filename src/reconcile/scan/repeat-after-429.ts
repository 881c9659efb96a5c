// Repeats reads of a comparison that the platform answers with 429 (too many requests), after the wait that it asks for.
import { backoffMs } from '../../support/backoff.ts';
import type { Clock } from '../../support/sources.ts';
import { TOO_MANY } from '../../sync/calls/answering.ts';
import { isStatus } from '../../sync/calls/failures.ts';
import type { Target } from '../../sync/target.ts';

/** Least waits, for an answer whose Retry-After is shorter, or that has none. */
const BACKOFF = { baseMs: 500, maxMs: 5000 };
/** Longest wait for one answer, so that a wrong Retry-After cannot stop a comparison. */
const LONGEST_WAIT_MS = 60_000;
/** Time from which no further wait begins: of one read, or since when every answer of the target was a 429. */
const PATIENCE_MS = 120_000;

/** Runs a read of the platform. @throws the error of the last attempt */
export type RepeatRead = <T>(read: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs a read, and runs it again each time that it is answered with 429, up to PATIENCE_MS. A command ends
 * earlier as while-answering.ts says, which also reports the wait.
 */
export function createRepeater(
  { target, clock, random }: { target: Pick<Target, 'answering'>; clock: Clock; random: () => number },
  signal: AbortSignal,
): RepeatRead {
  const begunAt = clock.now();
  return async (read) => {
    const readSince = clock.now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await read();
      } catch (error) {
        if (!isStatus(error, TOO_MANY)) throw error;
        // The record of the answers (answering.ts) is older than this comparison, which counts its own time.
        const limitedSince = Math.max(begunAt, target.answering.readLimited()?.since ?? readSince);
        if (clock.now() - Math.min(readSince, limitedSince) >= PATIENCE_MS) throw error;
        const askedMs = Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS);
        await clock.sleep(Math.max(backoffMs(attempt, BACKOFF, random), askedMs), signal);
        signal.throwIfAborted();
      }
    }
  };
}
