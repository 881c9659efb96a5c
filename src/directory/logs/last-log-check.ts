// Stores the result of the last check of the hash chains of a connection.
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';
import { createLastResult } from '../redis/last-result.ts';

export interface LogCheck {
  /** `acts`, or `log <target>`. */
  log: string;
  entries: number;
  /** Id of the first entry that does not fit, or `the end`; null when the chain is whole. */
  broken: string | null;
}

export interface LastLogCheck {
  /** Unix milliseconds. */
  at: number;
  checks: LogCheck[];
}

export const createLastLogChecks = ({ redis, keys }: { redis: Redis; keys: Keyspace }) =>
  createLastResult<LastLogCheck>(redis, keys.key('logChecks'));
