// Notes at the start which targets the settings of each connection have, so that one that leaves them is known, and one that is
// back is compared.
import type { Config } from '../config/schema.ts';
import { createKnownTargets, type TargetFeed } from '../directory/fleet/known-targets.ts';
import type { Parts } from './parts.ts';

const RETRY_MS = 5000;

/** Returns the targets of each connection. */
export const feedsOf = ({ connections }: Pick<Config, 'connections'>): TargetFeed[] =>
  Object.values(connections).flatMap(({ name, targets }) =>
    targets.map((target) => ({ connection: name, target })),
  );

/** Tries until Redis answers, or until `stop`; `noted` resolves then. */
export function noteTargets(parts: Parts): { noted: Promise<void>; stop: () => void } {
  const { clock, config, logger } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const known = createKnownTargets(parts, config.redis);
  async function note(): Promise<void> {
    while (!signal.aborted) {
      try {
        await known.note(feedsOf(config));
        for (const { connection, target, accounts, groups, isKept } of await known.removed(feedsOf(config)))
          if (!isKept)
            logger.warn(
              { connection, target, accounts, groups },
              'a target is no longer configured, and accounts stay there: see scim-bridge status',
            );
        return;
      } catch {
        // The connection to Redis logs that it is away.
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }
  return { noted: note(), stop: () => stopping.abort() };
}
