// Builds the targets (one platform each, with its client, request budget and circuit breaker) and the desired state of every
// connection. Both are built from the settings: a target may be fed by several connections, and a connection may feed several
// targets.
import { createDesiredState, type DesiredState } from '../directory/desired-state.ts';
import { settingsPrint } from '../sync/settings-print.ts';
import {
  hasUniqueExternalIds,
  userResourceType,
  type CustomSchema,
  type ResourceType,
} from '../scim/index.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { Store, Parts } from './parts.ts';
import type { Config } from '../config/schema.ts';
import { createBreaker } from '../directory/outbox/breaker.ts';
import { createBudget } from '../directory/outbox/budget.ts';
import { createRecentExternalIds } from '../directory/resources/recent-external-ids.ts';
import type { PlatformCall } from '../platform/client.ts';
import { createTarget, type Target } from '../sync/target.ts';
import { typedUserAttributes } from '../sync/mapping/typed-user-attributes.ts';

type TargetSettings = Config['targets'][string];

/** Returns the SCIM resource type of users, with the custom schemas and the attributes that these targets map. */
export const userTypeFor = (targets: TargetSettings[], schemas: readonly CustomSchema[]): ResourceType =>
  userResourceType({ userAttributes: typedUserAttributes(targets), schemas });

/** Returns the custom schemas of all connections that feed the target. */
export const schemasOfTarget = ({ connections }: Config, target: string): CustomSchema[] =>
  Object.values(connections).flatMap(({ targets, schemas }) => (targets.includes(target) ? schemas : []));

/**
 * Returns the targets by name. Their platform clients connect at the first call.
 * @param callerOf for a command: returns the print of its address and keys if the running service calls the target with others
 */
export const buildTargets = (
  parts: Parts,
  callerOf: (settings: TargetSettings) => string | undefined = () => undefined,
): Map<string, Target> =>
  new Map(
    Object.values(parts.config.targets).map((settings) => [
      settings.name,
      buildTarget(parts, settings, callerOf(settings)),
    ]),
  );

/** @param caller as `callerOf` returns it */
function buildTarget(parts: Parts, settings: TargetSettings, caller: string | undefined): Target {
  const { config, releasers } = parts;
  const { name, rateLimit } = settings;
  const { prefix } = config.redis;
  // `keys`: the settings have the API keys. The breaker reads the keys at each use, to tell a refused key from a later one.
  const access = { prefix, target: name, keys: settings };
  // A command that calls with another address or key than the service (`caller`) has a breaker of its own, so that its failures do
  // not stop the service; it shows operators the breaker of the service. Every other process uses the breaker of the service.
  const serviceBreaker = createBreaker(parts, access);
  const breaker = caller === undefined ? serviceBreaker : createBreaker(parts, { ...access, caller });
  const hooks = parts.instruments?.target(name);
  const budget = createBudget(
    { ...parts, onFailing: breaker.noteFailing, onWait: hooks?.onWait },
    { prefix, target: name, caller, ...rateLimit },
  );
  const userType = userTypeFor([settings], schemasOfTarget(config, name));
  const onCall = (call: PlatformCall): void => {
    breaker.note(call);
    hooks?.onCall(call);
  };
  // The externalIds that a connection has lately given to an account of the target.
  const recentExternalIds = createRecentExternalIds(parts, { prefix, target: name });
  const deps = { ...parts, budget, breaker, serviceBreaker, recentExternalIds, onCall };
  const target = createTarget(deps, settings, userType);
  releasers.add(`platform client of ${name}`, () => target.client.close());
  return target;
}

/**
 * Lifetime of a lease. A running sync renews its lease every second. When its process is killed, another worker takes
 * the work over after this time.
 */
const LEASE_MS = 3000;
const DAY_MS = 86_400_000;

/**
 * Returns the desired state of every connection.
 * @param rulesReadGroupsAt returns true when the mapping of the target reads the groups of users
 */
export function buildStates(
  { config, redis, scripts }: Store,
  rulesReadGroupsAt: (target: string) => boolean,
): DesiredState[] {
  const connections = Object.values(config.connections);
  const connectionsOf = (target: string): string[] =>
    connections.filter(({ targets }) => targets.includes(target)).map(({ name }) => name);
  return connections.map((connection) => {
    const othersOf = (target: string): string[] =>
      connectionsOf(target).filter((name) => name !== connection.name);
    return createDesiredState(
      { redis, scripts },
      {
        prefix: config.redis.prefix,
        connection: connection.name,
        targets: connection.targets,
        addressOf: (target) => config.targets[target]?.url ?? '',
        // A digest of the settings that decide how resources are synced.
        settingsOf: (target) => settingsPrint(config.targets[target], othersOf(target)),
        // The settings have every target of a connection, so the default is never used.
        deletesLeaversAt: (target) => {
          const { policy, users } = config.targets[target] ?? {};
          return policy === 'sync' && users?.deprovision === 'delete';
        },
        rulesReadGroups: connection.targets.some(rulesReadGroupsAt),
        leaseMs: LEASE_MS,
        othersOf,
        uniqueExternalIds: hasUniqueExternalIds(connection.profile),
        ...(connection.events ? { events: connection.events } : {}),
        log: {
          maxEntries: config.provisioningLog.maxEntries,
          maxAgeMs: config.provisioningLog.maxAgeDays * DAY_MS,
        },
      },
    );
  });
}

/** Returns the desired state of a connection that the settings do not have, without its former targets. */
export const buildFormerState = ({ config, redis, scripts }: Store, connection: string): DesiredState =>
  createDesiredState(
    { redis, scripts },
    {
      prefix: config.redis.prefix,
      connection,
      targets: [],
      // Without targets the values below are never used.
      addressOf: () => '',
      rulesReadGroups: false,
      leaseMs: LEASE_MS,
    },
  );

/** Returns the outboxes of one target, by connection name. */
export const outboxesOf = (states: DesiredState[], target: string): Map<string, Outbox> =>
  new Map(
    states.flatMap(({ connection, outboxes }) => {
      const outbox = outboxes.get(target);
      return outbox ? [[connection, outbox] as const] : [];
    }),
  );
