// Creates a lease that one of several processes, or one sync that claims an account, holds at a time. It expires if its holder is
// killed.
import type { StoreDeps } from './scripts.ts';

export interface ProcessLease {
  /** Takes or renews the lease. @param name of the holder @returns false while another holder has the lease */
  lead: (name: string, ttlMs: number) => Promise<boolean>;
  /** Gives the lease back, if the holder of this name has it. */
  resign: (name: string) => Promise<void>;
}

/** @param lease key family of the lease */
export function createProcessLease({ redis, scripts, keys }: StoreDeps, lease: string): ProcessLease {
  return {
    lead: async (name, ttlMs) => {
      const [tag] = await scripts.run('lead', keys.base, { lease, name, ttlMs });
      // This holder has the lease already, and the script has renewed it.
      if (tag === 'held') return true;
      return (await redis.set(keys.key(lease), name, 'PX', ttlMs, 'NX')) !== null;
    },
    resign: async (name) => {
      await scripts.run('lead', keys.base, { lease, name, ttlMs: 0 });
    },
  };
}
