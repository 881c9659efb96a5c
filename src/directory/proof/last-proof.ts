// Stores the result of the last proof, and the lock that lets several schedulers take turns.
import { createLastResult } from '../redis/last-result.ts';
import type { Finding } from './findings.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Result of the last complete proof. */
export interface LastProof {
  /** Unix milliseconds. */
  startedAt: number;
  endedAt: number;
  /** `scheduler`, or the operator who ordered the proof. */
  by: string;
  /** Whether the proof repaired faults. */
  repair: boolean;
  /** Number of entries that differ from the records and were not repaired. */
  faults: number;
  findings: Finding[];
}

export function createLastProof({ redis, keys }: StoreDeps) {
  /** Takes the turn of the scheduled proof. @returns false while another scheduler has it, or rests after its proof */
  const takeTurn = async (longestMs: number): Promise<boolean> =>
    (await redis.set(keys.key('proofTurn'), '1', 'PX', longestMs, 'NX')) !== null;

  /** Ends the turn of this scheduler. @param restMs time until the next proof of the connection may start */
  const endTurn = async (restMs: number): Promise<void> => {
    await redis.pexpire(keys.key('proofTurn'), restMs);
  };

  return { takeTurn, endTurn, ...createLastResult<LastProof>(redis, keys.key('proofLast')) };
}
