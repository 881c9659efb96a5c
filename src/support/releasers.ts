// Shutdown is construction reversed: whoever starts something registers how it ends.
import type { Logger } from './logger.ts';

export interface Releasers {
  add: (name: string, release: () => Promise<unknown> | void) => void;
  /** Runs all releases, last added first; one that fails is logged and does not hold up the rest. */
  releaseAll: () => Promise<void>;
}

export function createReleasers(logger: Logger): Releasers {
  const entries: { name: string; release: () => Promise<unknown> | void }[] = [];
  return {
    add: (name, release) => void entries.push({ name, release }),
    releaseAll: async () => {
      for (let entry = entries.pop(); entry; entry = entries.pop()) {
        try {
          await entry.release();
        } catch (error) {
          logger.warn({ part: entry.name, reason: (error as Error).message }, 'did not stop cleanly');
        }
      }
    },
  };
}
