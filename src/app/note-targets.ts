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
  const fed = feedsOf(config);
  async function note(): Promise<void> {
    while (!signal.aborted) {
      try {
        await known.note(fed);
        return;
      } catch {
        // The connection to Redis logs that it is away.
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }
  async function warnOfRemoved(): Promise<void> {
    for (const { connection, target, accounts, groups, isKept } of await known.removed(fed))
      if (!isKept)
        logger.warn(
          { connection, target, accounts, groups },
          'a target is no longer configured, and accounts stay there: see scim-bridge status',
        );
  }
  const noted = note();
  // Runs do not wait for this: status and /health tell of removed targets too.
  void noted.then(() => (signal.aborted ? undefined : warnOfRemoved())).catch(() => undefined);
  return { noted, stop: () => stopping.abort() };
}
