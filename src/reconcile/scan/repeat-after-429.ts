// Repeats reads of a comparison that the platform answers with 429 (too many requests), after the wait that it asks for.
import { backoffMs } from '../../support/backoff.ts';
import type { Clock } from '../../support/sources.ts';
import { TOO_MANY } from '../../sync/calls/answering.ts';
import { isStatus } from '../../sync/calls/failures.ts';

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
 * PATIENCE_MS after the first 429 of this kind of call (`route`) in the comparison. This time begins anew after a repeated read that
 * gets another answer. So calls that are always answered with 429 hold up the comparison once and not with each read, and other
 * calls are still repeated. A command ends earlier as while-answering.ts says, which also reports the wait.
 */
export function createRepeater(
  { clock, random }: { clock: Clock; random: () => number },
  signal: AbortSignal,
): RepeatRead {
  /** Time of the first 429 by route, Unix milliseconds. */
  const limitedSince = new Map<string, number>();
  return async (read) => {
    let route: string | undefined;
    // A single read does not wait longer either while other reads succeed when they are repeated.
    let readLimitedSince: number | undefined;
    const noteOtherAnswer = () => route !== undefined && limitedSince.delete(route);
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await read();
        noteOtherAnswer();
        return answer;
      } catch (error) {
        if (!isStatus(error, TOO_MANY)) {
          noteOtherAnswer();
          throw error;
        }
        const now = clock.now();
        route = error.route;
        const since = limitedSince.get(route) ?? now;
        limitedSince.set(route, since);
        readLimitedSince ??= now;
        if (now - Math.min(readLimitedSince, since) >= PATIENCE_MS) throw error;
        const askedMs = Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS);
        await clock.sleep(Math.max(backoffMs(attempt, BACKOFF, random), askedMs), signal);
        signal.throwIfAborted();
      }
    }
  };
}
