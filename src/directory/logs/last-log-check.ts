// Stores the result of the last check of the hash chains of a connection. /metrics shows it, so that a scrape needs no check of
// whole logs.
import { createLastResult } from '../redis/last-result.ts';
import type { StoreDeps } from '../redis/scripts.ts';

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

export const createLastLogChecks = ({ redis, keys }: StoreDeps) =>
  createLastResult<LastLogCheck>(redis, keys.key('logChecks'));
