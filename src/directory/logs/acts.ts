// Stores the orders of operators at one connection, with their names: one list that an auditor can read from beginning to
// end. The effects of the orders at the platform are in the provisioning log.
import type { Redis } from 'ioredis';
import { createChainedStream, type Placed } from './chained-stream.ts';
import type { Keyspace } from '../keys.ts';
import type { Scripts } from '../redis/scripts.ts';

export const ACTS = [
  ...(['hold', 'release', 'resync', 'approve', 'reject'] as const),
  ...(['retryDeadLetters', 'dropDeadLetters', 'forgetLink', 'importLinks'] as const),
  ...(['retryEvents', 'dropEvents'] as const),
  ...(['createToken', 'revokeToken', 'restore', 'repair'] as const),
] as const;

/** The operator. The name is as given, or the account at the machine; the way in is known for certain. */
export interface Actor {
  by: string;
  via: 'command' | 'admin API';
}

export interface Act extends Actor {
  act: (typeof ACTS)[number];
  target?: string;
  /** Which approval, token, resources or backup; ids and names of settings, never secrets. */
  subject?: string;
  /** How many resources or items it reached. */
  count?: number;
  note?: string;
}

export type PlacedAct = Act & Placed;

/** Acts are few and ask to be kept longer than what they led to. */
const LIMITS = { maxEntries: 20_000, maxAgeMs: 400 * 86_400_000 };

export type Acts = ReturnType<typeof createActs>;

export function createActs({ redis, scripts, keys }: { redis: Redis; scripts: Scripts; keys: Keyspace }) {
  const kept = createChainedStream<Act>(redis, { stream: keys.key('acts'), chain: keys.key('actsChain') });

  async function record(act: Act): Promise<void> {
    await scripts.run('append_act', keys.base, { log: { ...LIMITS, entries: [JSON.stringify(act)] } });
  }

  return { record, newest: kept.newest, firstBroken: kept.firstBroken, size: kept.size };
}
