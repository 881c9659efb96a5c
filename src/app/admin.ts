// Builds the admin API.
import { printableConfig } from '../config/redact.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { createKnownTargets } from '../directory/fleet/known-targets.ts';
import { createHistoryStore } from '../directory/history/history-store.ts';
import { createOperationStore } from '../directory/logs/operations.ts';
import type { Admission } from '../http/admission/admission.ts';
import { createAdmin, type Admin } from '../http/admin/admin.ts';
import { createAdminCheck, type AdminCheck } from '../http/admin/authenticate.ts';
import { createClientAddress } from '../http/middleware/client-address.ts';
import type { ReadFleet } from '../ops/status/fleet.ts';
import type { Target } from '../sync/target.ts';
import { feedsOf } from './note-targets.ts';
import { buildNoticeOperations } from './notices.ts';
import { buildNextReconcile, digestsOf, runChecks, unlistedOf } from './open.ts';
import { buildScopes } from './scopes.ts';
import { buildSignIn } from './sign-in.ts';
import type { Parts } from './parts.ts';
import { outboxesOf, schemasOfTarget, userTypeFor } from './targets.ts';
import { checkAttributes } from '../config/check-attributes.ts';
import type { CompileTried } from '../ops/try-mapping.ts';
import { configChecks } from '../sync/mapping/config-checks.ts';
import { compileMapping } from '../sync/mapping/mapping.ts';

/**
 * Returns one token check, shared by the admin API and the health endpoints so that failed attempts count
 * together; undefined when no admin token is configured.
 */
export function buildAdminCheck({ config, clock, logger }: Parts): AdminCheck | undefined {
  const { adminToken, trustedProxies } = config.server;
  if (adminToken === null) return undefined;
  const clientAddress = createClientAddress(trustedProxies);
  // The token is read at each request, so a rotated secret is valid at once.
  return createAdminCheck({ clock, logger, clientAddress }, () => config.server.adminToken ?? adminToken);
}

/** Returns the admin API; undefined when there is neither an admin token nor another way to sign in. */
export function buildAdmin(
  parts: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
  {
    admission,
    checkAdmin,
    readFleet,
  }: { admission: Admission; checkAdmin: AdminCheck | undefined; readFleet: ReadFleet },
): Pick<Admin, 'router' | 'live'> | undefined {
  const { clock, config, redis, releasers } = parts;
  if (!checkAdmin && !config.server.signIn) return undefined;
  const signIn = buildSignIn(parts, checkAdmin);
  const notices = buildNoticeOperations(parts, states);
  const tokensOf = (connection: string) => config.connections[connection]?.tokens ?? [];
  const breakers = new Map([...targets].map(([name, { breaker }]) => [name, breaker]));
  const admin = createAdmin(
    {
      ...parts,
      states,
      scopes: buildScopes(parts, targets, states),
      targets: [...targets.keys()],
      knownTargets: createKnownTargets(parts, config.redis),
      // The targets that each connection of the settings feeds.
      fed: feedsOf(config),
      breakers,
      readFleet,
      notices,
      nextReconcile: buildNextReconcile(config),
      // Digests of the mapping rules, by target.
      digests: digestsOf(config),
      unlisted: unlistedOf(config),
      history: {
        store: createHistoryStore(parts, config.redis),
        connectionsOf: (target) => [...outboxesOf(states, target).keys()],
        // 0: the target left the settings.
        rateLimitOf: (target) => config.targets[target]?.rateLimit.requestsPerSecond ?? 0,
      },
      // Address and key of each target, for calls of the platform.
      addresses: config.targets,
      check: (signal) =>
        runChecks(parts, { clock, breakers, states, readFleet, notices }, { signal, withLastProof: true }),
      tokensOf,
      settings: () => printableConfig(config),
      compileTried: buildCompileTried(parts),
      store: createOperationStore({ redis }, { prefix: config.redis.prefix }),
    },
    {
      identify: signIn.identify,
      signIn: signIn.router,
      maxBodyBytes: config.server.maxBodyBytes,
      admitted: admission.of('admin'),
    },
  );
  releasers.add('admin operations', admin.stop);
  return admin;
}

/** Returns a function that checks and compiles a mapping that an operator tries for a target. It throws for an unknown target. */
function buildCompileTried({ config }: Pick<Parts, 'config'>): CompileTried {
  return (target, given) => {
    const settings = config.targets[target];
    if (!settings) throw new Error(`there is no target ${target}`);
    const schemas = schemasOfTarget(config, target);
    const { attributes, faults } = checkAttributes(given, schemas, configChecks);
    return {
      attributes,
      faults,
      userType: userTypeFor([{ ...settings, attributes }], schemas),
      // A mapping without attributes, because it tells only whether a person is in scope.
      scope: compileMapping({ ...settings, attributes: {} }, userTypeFor([settings], schemas)),
    };
  };
}
