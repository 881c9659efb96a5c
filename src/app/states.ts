// Builds the desired state of every connection.
import { createDesiredState, type DesiredState } from '../directory/desired-state.ts';
import { settingsPrint } from '../sync/settings-print.ts';
import { hasUniqueExternalIds } from '../scim/index.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { Store } from './parts.ts';

/** A running sync renews its lease every second; another worker takes the work of a killed process over after this time. */
const LEASE_MS = 3000;
const DAY_MS = 86_400_000;

export function buildStates(
  { config, redis, scripts }: Store,
  groupsMatterAt: (target: string) => boolean,
): DesiredState[] {
  const feeding = (target: string): string[] =>
    Object.values(config.connections).flatMap(({ name, targets }) => (targets.includes(target) ? name : []));
  return Object.values(config.connections).map((connection) =>
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
        othersOf: (target) => feeding(target).filter((name) => name !== connection.name),
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
