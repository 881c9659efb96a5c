// Notes at the start which targets the settings of each connection have, so that a target that leaves the settings is known, and a
// target that comes back is compared. Notes also since when reconciles are expected, for the alert about a missing first run.
import { createHash } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { createKnownTargets, type FedTarget, type FeedRules } from '../directory/fleet/known-targets.ts';
import { planDigest } from '../reconcile/tenant/digest.ts';
import { canonicalJson } from '../support/canonical-json.ts';
import { settingsPrint } from '../sync/settings-print.ts';
import { untilStored, type Parts } from './parts.ts';
import type { DesiredState } from '../directory/desired-state.ts';

/** Number of characters of a print (docs/glossary.md). */
const PRINT_LENGTH = 8;

/** Returns the targets that each connection feeds. */
export const feedsOf = ({ connections, targets }: Pick<Config, 'connections' | 'targets'>): FedTarget[] =>
  Object.values(connections).flatMap(({ name, targets: fed }) =>
    fed.map((target) => ({ connection: name, target, address: targets[target]?.url ?? '' })),
  );

/**
 * Returns the targets that each connection feeds, with a digest of their mapping rules and a print of other settings. Each process
 * announces both (fleet.ts), so that status finds processes with different settings. `noteTargets` uses the digest alone: at a
 * new digest the next run compares every resource.
 */
export const feedRulesOf = (config: Pick<Config, 'connections' | 'targets'>): FeedRules[] =>
  feedsOf(config).flatMap(({ connection, target }) => {
    const settings = config.targets[target];
    return settings
      ? [{ connection, target, rules: planDigest(settings), others: otherSettings(settings) }]
      : [];
  });

/**
 * Returns a print of the settings that decide about access besides the mapping rules. Two processes with different prints may treat
 * the same change differently.
 */
function otherSettings(settings: Config['targets'][string]): string {
  const { guard, groupsRolesMap, url } = settings;
  const text = canonicalJson({ settings: settingsPrint(settings), guard, groupsRolesMap, url });
  return createHash('sha256').update(text).digest('base64url').slice(0, PRINT_LENGTH);
}

/**
 * Stores in Redis which targets the settings of each connection have. Tries until Redis answers or `stop` is called; `noted`
 * resolves in both cases.
 */
export function noteTargets(parts: Parts): { noted: Promise<void>; stop: () => void } {
  const { config, logger } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  const known = createKnownTargets(parts, config.redis);
  const fed = feedRulesOf(config);
  /** Logs the targets that left the settings while accounts stay there; not those that an operator decided to keep. */
  async function warnOfRemoved(): Promise<void> {
    for (const { connection, target, accounts, groups, isKept } of await known.removed(feedsOf(config)))
      if (!isKept)
        logger.warn(
          { connection, target, accounts, groups },
          'a target is no longer configured, and accounts stay there: see scim-bridge status',
        );
  }
  const noted = untilStored(parts, signal, 'targets of the settings not stored', async () => {
    await known.note(fed);
  });
  // Reconcile runs wait for `noted`, but not for the warning. If the warning fails, it is dropped, because status and /health tell
  // of removed targets too.
  void noted.then(() => (signal.aborted ? undefined : warnOfRemoved())).catch(() => undefined);
  return { noted, stop: () => stopping.abort() };
}

/**
 * Stores for every connection and target, in the background, since when reconciles are expected. Tries again until Redis answers or
 * the service stops.
 * @param gapMs longest time between two reconciles of the schedule; null without a schedule
 */
export function expectReconcile(parts: Parts, states: readonly DesiredState[], gapMs: number | null): void {
  const stopping = new AbortController();
  void untilStored(parts, stopping.signal, 'expected reconciles not stored', async () => {
    for (const { runs } of states) for (const each of runs.values()) await each.noteExpected(gapMs);
  });
  parts.releasers.add('expected reconcile', () => stopping.abort());
}
