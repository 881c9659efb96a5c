// Keeps what the last pass over derived data found, and lets several schedulers take turns.
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';

/** What the last pass of the scheduler found. */
export interface LastProof {
  /** Unix milliseconds. */
  endedAt: number;
  faults: number;
}

export function createLastProof({ redis, keys }: { redis: Redis; keys: Keyspace }) {
  /** Whether no other process proves this connection now, or did so a short while ago. */
  const takeTurn = async (longestMs: number): Promise<boolean> =>
    (await redis.set(keys.key('proofTurn'), '1', 'PX', longestMs, 'NX')) !== null;

  /** @param restMs how long no other process has to prove the connection */
  const endTurn = async (restMs: number): Promise<void> => {
    await redis.pexpire(keys.key('proofTurn'), restMs);
  };

  const keep = async (found: LastProof): Promise<void> => {
    await redis.set(keys.key('proofLast'), JSON.stringify(found));
  };

  /** Undefined before the first pass, and if the text is damaged: the next pass writes it anew. */
  const last = async (): Promise<LastProof | undefined> => {
    const text = await redis.get(keys.key('proofLast'));
    try {
      return text === null ? undefined : (JSON.parse(text) as LastProof);
    } catch {
      return undefined;
    }
  };

  /** After a repair the last result is no longer true. */
  const forget = async (): Promise<void> => {
    await redis.del(keys.key('proofLast'));
  };

  return { takeTurn, endTurn, keep, last, forget };
}
