// Registers release functions and runs them in reverse order at shutdown.
import type { Logger } from './logger.ts';

export interface Releasers {
  add: (name: string, release: () => Promise<unknown> | void) => void;
  /** Runs all releases, last added first. A failed release is logged and does not stop the others. */
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
