// Notes for half an hour which externalIds were given to accounts of a target. sync/user/listed-accounts.ts decides by a list of
// the platform, which may be older than an account. Such an account is found here, even if another process or connection created
// it.
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';

export interface RecentExternalIds {
  /** Notes the externalId. @returns whether any resource of any connection noted it before */
  note(externalId: string): Promise<boolean>;
}

/** Twice the longest lifetime of a list (sync/user/listed-accounts.ts). */
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
