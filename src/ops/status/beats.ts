// Writes the beats (heartbeats) of this process until it stops. A failed beat is repeated after RETRY_MS and is not logged: the
// connection to Redis logs that Redis is unavailable.
import type { Announcing } from '../../directory/fleet/announced-rules.ts';
import { BEAT_MS, type FleetStore, type ProcessFacts } from '../../directory/fleet/fleet-store.ts';
import { startRounds } from '../../support/rounds.ts';
import type { Clock } from '../../support/sources.ts';
import { settledWithin } from '../../support/within.ts';

/** Pause after a failed beat, so that the process is not listed as silent for long when Redis is back. */
export const RETRY_MS = 1000;
/** Longest time that the start and the stop wait for Redis. */
const WAIT_MS = 1000;

/**
 * Writes a beat at once, and then at intervals until `stop` is called.
 * @param id unique for this start of the process
 * @param facts returns the facts of the process; called for each beat
 */
export function startBeats(
  { clock }: { clock: Clock },
  fleet: Pick<FleetStore, 'beat' | 'leave'>,
  id: string,
  facts: () => ProcessFacts & Announcing,
) {
  /** Writes a beat. @returns the wait before the next one, milliseconds */
  const beat = (): Promise<number> =>
    fleet.beat(id, facts()).then(
      () => BEAT_MS,
      () => RETRY_MS,
    );
  let latest = Promise.resolve(0);
  const stopRounds = startRounds(clock, () => (latest = beat()));
  return {
    /** Resolves after the first beat, or after a second without it. */
    started: async (): Promise<void> => {
      await settledWithin(clock, latest, WAIT_MS);
    },
    /** Removes the process from the fleet; without an answer of Redis it gives up after a second. */
    stop: async (): Promise<void> => {
      // The process leaves after its last beat has ended, because that beat would add the process again.
      const left = stopRounds().then(() => fleet.leave(id));
      await settledWithin(clock, left, WAIT_MS);
    },
  };
}
