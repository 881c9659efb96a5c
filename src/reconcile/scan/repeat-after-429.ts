// Repeats reads of a comparison that the platform answers with 429 (too many requests), after the wait that it asks for.
import { backoffMs } from '../../support/backoff.ts';
import type { Clock } from '../../support/sources.ts';
import { TOO_MANY } from '../../sync/calls/answering.ts';
import { isGone, isStatus } from '../../sync/calls/failures.ts';

/** Least waits, for an answer whose Retry-After is shorter, or that has none. */
const BACKOFF = { baseMs: 500, maxMs: 5000 };
/** Longest wait for one answer, so that a wrong Retry-After cannot stop a comparison. */
const LONGEST_WAIT_MS = 60_000;
/** Time after a first 429 from which no further wait begins. */
const PATIENCE_MS = 120_000;

/** Runs a read of the platform. @throws the error of the last attempt */
export type RepeatRead = <T>(read: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs a read of one comparison, and runs it again each time that it is answered with 429, up to
 * PATIENCE_MS after the first 429 of the comparison. Only a repeated read that gets another answer begins this time anew: good
 * answers of other routes do not, so a route that always answers 429 holds up the comparison once and not with each read. A command
 * ends earlier as while-answering.ts says, which also reports the wait.
 */
export function createRepeater(
  { clock, random }: { clock: Clock; random: () => number },
  signal: AbortSignal,
): RepeatRead {
  let limitedSince: number | undefined;
  return async (read) => {
    // A single read does not wait longer either while other reads succeed when they are repeated.
    let readLimitedSince: number | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await read();
        if (attempt > 1) limitedSince = undefined;
        return answer;
      } catch (error) {
        if (attempt > 1 && isGone(error)) limitedSince = undefined;
        if (!isStatus(error, TOO_MANY)) throw error;
        const now = clock.now();
        limitedSince ??= now;
        readLimitedSince ??= now;
        if (now - Math.min(readLimitedSince, limitedSince) >= PATIENCE_MS) throw error;
        const askedMs = Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS);
        await clock.sleep(Math.max(backoffMs(attempt, BACKOFF, random), askedMs), signal);
        signal.throwIfAborted();
      }
    }
  };
}
