// Stores the result of the last proof, and the lock that lets several schedulers take turns.
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';
import type { Finding } from './findings.ts';

/** Result of the last complete proof. */
export interface LastProof {
  /** Unix milliseconds. */
  startedAt: number;
  endedAt: number;
  /** `scheduler`, or the operator who ordered the proof. */
  by: string;
  /** Whether the proof repaired faults. */
  repair: boolean;
  /** Entries that differ from the records and were not repaired. */
  faults: number;
  findings: Finding[];
}

export function createLastProof({ redis, keys }: { redis: Redis; keys: Keyspace }) {
  /** Takes the lock. @returns false while another process runs a proof, or finished one recently */
  const takeTurn = async (longestMs: number): Promise<boolean> =>
    (await redis.set(keys.key('proofTurn'), '1', 'PX', longestMs, 'NX')) !== null;

  /** Ends the turn of this scheduler. @param restMs time until the next proof of the connection may start */
  const endTurn = async (restMs: number): Promise<void> => {
    await redis.pexpire(keys.key('proofTurn'), restMs);
  };

  const keep = async (found: LastProof): Promise<void> => {
    await redis.set(keys.key('proofLast'), JSON.stringify(found));
  };

  /** Returns the last result; undefined before the first proof or when it is damaged. */
  const last = async (): Promise<LastProof | undefined> => {
    const text = await redis.get(keys.key('proofLast'));
    try {
      return text === null ? undefined : (JSON.parse(text) as LastProof);
    } catch {
      return undefined;
    }
  };

  return { takeTurn, endTurn, keep, last };
}
