// Records whether a target answers the calls of this process.
import { weightOf } from '../directory/outbox/breaker.ts';
import type { PlatformCall } from '../platform/client.ts';
import type { Clock } from '../support/sources.ts';

export interface TargetSilence {
  /** Unix milliseconds of the first call without a good answer. */
  since: number;
  failures: number;
  /** The last failed call; undefined while the first calls wait for an answer. */
  last: Pick<PlatformCall, 'status' | 'error'> | undefined;
}

export type Answering = ReturnType<typeof createAnswering>;

/** Records calls of this process to one target. */
export function createAnswering(clock: Clock) {
  let silence: TargetSilence | undefined;
  return {
    started: (): void => {
      silence ??= { since: clock.now(), failures: 0, last: undefined };
    },
    ended: ({ status, error, durationMs }: PlatformCall): void => {
      const weight = weightOf(error === undefined ? { status } : { status, error });
      if (weight === undefined) return;
      if (weight === 0) silence = undefined;
      else {
        const since = silence?.since ?? clock.now() - durationMs;
        const last = error === undefined ? { status } : { status, error };
        silence = { since, failures: (silence?.failures ?? 0) + 1, last };
      }
    },
    /** Returns undefined after a good answer, and before the first call. */
    read: (): TargetSilence | undefined => silence,
  };
}
