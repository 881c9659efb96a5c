// Builds the desired state of every connection.
import { createDesiredState, type DesiredState } from '../directory/desired-state.ts';
import { settingsPrint } from '../sync/settings-print.ts';
import { hasUniqueExternalIds } from '../scim/index.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { Store } from './parts.ts';

/**
 * Lifetime of a lease. A running sync renews its lease every second. When its process is killed, another worker takes
 * the work over after this time.
 */
const LEASE_MS = 3000;
const DAY_MS = 86_400_000;

/** @param groupsMatterAt returns true when the mapping of the target reads the groups of users */
export function buildStates(
  { config, redis, scripts }: Store,
  groupsMatterAt: (target: string) => boolean,
): DesiredState[] {
  const connections = Object.values(config.connections);
  const connectionsOf = (target: string): string[] =>
    connections.filter(({ targets }) => targets.includes(target)).map(({ name }) => name);
  return connections.map((connection) =>
    createDesiredState(
      { redis, scripts },
      {
        prefix: config.redis.prefix,
        connection: connection.name,
        targets: connection.targets,
        addressOf: (target) => config.targets[target]?.url ?? '',
        settingsOf: (target) => settingsPrint(config.targets[target]),
        groupsMatter: connection.targets.some(groupsMatterAt),
        leaseMs: LEASE_MS,
        othersOf: (target) => connectionsOf(target).filter((name) => name !== connection.name),
        uniqueExternalIds: hasUniqueExternalIds(connection.profile),
        ...(connection.events ? { events: connection.events } : {}),
        log: {
          maxEntries: config.provisioningLog.maxEntries,
          maxAgeMs: config.provisioningLog.maxAgeDays * DAY_MS,
        },
      },
    ),
  );
}

/** Returns the outboxes of one target, by connection name. */
export const outboxesOf = (states: DesiredState[], target: string): Map<string, Outbox> =>
  new Map(
    states.flatMap(({ connection, outboxes }) => {
      const outbox = outboxes.get(target);
      return outbox ? [[connection, outbox] as const] : [];
    }),
  );
