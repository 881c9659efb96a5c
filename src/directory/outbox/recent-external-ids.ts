// Notes for a while which externalIds were given to accounts of a target. A list of the platform that is younger than
// the notes shows every older account; a newer one is found here, also when another process or connection created it.
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';

export interface RecentExternalIds {
  /** Notes the externalId. @returns whether any resource of any connection noted it before */
  note(externalId: string): Promise<boolean>;
}

/** Twice the longest lifetime of a list (sync/listed-accounts.ts). */
const KEEP_MS = 1_800_000;

export function createRecentExternalIds(
  { redis }: { redis: Redis },
  { prefix, target }: { prefix: string; target: string },
): RecentExternalIds {
  const keys = createKeyspace(prefix, `target.${target}`);
  return {
    note: async (externalId) => {
      const digest = createHash('sha256').update(externalId).digest('base64url');
      const before = await redis.set(
        keys.key('externalId', `${target}:${digest}`),
        '1',
        'PX',
        KEEP_MS,
        'GET',
      );
      return before !== null;
    },
  };
}
