// Opens the parts of the service for commands, without HTTP server and scheduler: `openDesiredStates` for commands that use Redis
// alone (and for doctor, which makes its own platform clients), `openScopes` for other commands that call the platform. The other
// functions build what commands and the admin API share.
import type { Config } from '../config/schema.ts';
import { configWarnings } from '../config/warnings.ts';
import { isCalledOtherwise } from '../directory/fleet/announced-rules.ts';
import { createFleetStore, runningOf } from '../directory/fleet/fleet-store.ts';
import { callerPrint, createBreaker } from '../directory/outbox/breaker.ts';
import { createOperationStore } from '../directory/logs/operations.ts';
import {
  createDataVersion,
  createRestoreLease,
  createRestoreWithdrawal,
} from '../directory/fleet/data-version.ts';
import { createKnownTargets } from '../directory/fleet/known-targets.ts';
import { checkStore, readStoreFacts } from '../directory/redis/store-health.ts';
import { planDigest } from '../reconcile/tenant/digest.ts';
import { nextRunOf } from '../reconcile/apply/expected-gap.ts';
import { systemClock } from '../support/sources.ts';
import { silentLogger } from '../support/logger.ts';
import { createReleasers } from '../support/releasers.ts';
import { unlistedAttributes } from '../sync/diff.ts';
import { compileMapping } from '../sync/mapping/mapping.ts';
import { checkEverything, type CheckDeps } from '../ops/doctor/check-everything.ts';
import type { DoctorFinding } from '../ops/doctor/doctor-finding.ts';
import { dataFindings, storedFindings, type StoredSubject } from '../ops/doctor/stored-findings.ts';
import type { TokenPlaces } from '../ops/doctor/token-findings.ts';
import { connectCommand } from './command-redis.ts';
import { checkDataVersion } from './data-version.ts';
import { buildFleetReader } from './fleet.ts';
import { feedsOf } from './note-targets.ts';
import { buildNoticeOperations } from './notices.ts';
import { buildScopes } from './scopes.ts';
import { scriptsOn, type AppDeps, type Parts, type Store } from './parts.ts';
import { buildFormerState, buildStates, buildTargets, schemasOfTarget, userTypeFor } from './targets.ts';

/** Opens desired states and breakers without platform clients, for commands that only read or mark in Redis. */
export function openDesiredStates(config: Config) {
  // `nextReconcile` is built first, because an error after the connection was opened would keep the process alive.
  const nextReconcile = buildNextReconcile(config);
  const { redis, reach } = connectCommand(config.redis, {
    clock: systemClock,
    logger: silentLogger,
  });
  const store = { config, redis, scripts: scriptsOn(redis, config, systemClock) };
  const mappings = new Map(
    Object.values(config.targets).map((target) => [
      target.name,
      compileMapping(target, userTypeFor([target], schemasOfTarget(config, target.name))),
    ]),
  );
  // `keys`: the settings of a target hold its API keys, by which the breaker tells a refused key from a later one.
  const breakers = Object.entries(config.targets).map(([target, keys]) => {
    const options = { prefix: config.redis.prefix, target, keys };
    return [target, createBreaker({ ...store, logger: silentLogger }, options)] as const;
  });
  const states = buildStates(store, (name) => mappings.get(name)?.rulesReadGroups ?? false);
  return {
    redis,
    /** Waits for Redis and checks the version of its data (command-redis.ts). */
    reach,
    /**
     * Checks the version of the data; does nothing when Redis does not answer, which `doctor` reports itself.
     * @throws DataVersionRefused, RestoreUnderWay
     */
    checkData: () => checkDataVersion(store),
    states,
    /** Returns the desired state of a connection that left the settings, for its backup and restore. */
    formerState: (connection: string) => buildFormerState(store, connection),
    /** By target name. */
    breakers: new Map(breakers),
    operations: createOperationStore({ redis }, { prefix: config.redis.prefix }),
    readFleet: buildFleetReader(store),
    dataVersion: createDataVersion(store, config.redis),
    withdrawRestore: createRestoreWithdrawal(store, config.redis),
    knownTargets: createKnownTargets(store, config.redis),
    /** Targets that the settings have, with their connections. */
    fed: feedsOf(config),
    /** Lets one restore run at a time. */
    restoreLease: createRestoreLease(store, config.redis),
    notices: buildNoticeOperations(store, states),
    /** Returns the time of the next scheduled reconcile, Unix milliseconds; null without a schedule. */
    nextReconcile,
    /** Digests of the mapping rules, by target. */
    digests: digestsOf(config),
    unlisted: unlistedOf(config),
  };
}

/** Returns the digest of the mapping rules in the settings, by target. */
export const digestsOf = ({ targets }: Config): Map<string, string> =>
  new Map(Object.values(targets).map((target) => [target.name, planDigest(target)]));

/** Returns the mapped attributes whose values no list of the platform shows, by target. */
export const unlistedOf = ({ targets }: Config): Map<string, Set<string>> =>
  new Map(
    Object.values(targets).map(({ name, attributes }) => [
      name,
      unlistedAttributes(
        Object.fromEntries(Object.entries(attributes).map(([each, { type }]) => [each, type])),
      ),
    ]),
  );

/**
 * Returns a function that returns the time of the next reconcile. Without a schedule of the bridge, `expectedSchedule`
 * says when another program starts the runs.
 */
export const buildNextReconcile = ({ reconcile }: Config): ReturnType<typeof nextRunOf> =>
  nextRunOf(reconcile.schedule ?? reconcile.expectedSchedule, reconcile.timezone);

/** Returns what the settings say about the credentials of each connection, for `tokenFindings`. */
export const tokenSettingsOf = ({ connections }: Config): Omit<TokenPlaces, 'states'> => ({
  tokensOf: (name) => connections[name]?.tokens ?? [],
  acceptsJwt: (name) => Boolean(connections[name]?.jwt),
});

/**
 * Runs the checks of doctor, for the command and the admin API.
 * @param options.withLastProof whether the last comparison of derived data is reported
 */
export function runChecks(
  { config, redis }: Pick<Store, 'config' | 'redis'>,
  deps: CheckDeps & Omit<StoredSubject, 'tokensOf' | 'acceptsJwt'>,
  { signal, withLastProof }: { signal: AbortSignal; withLastProof: boolean },
): Promise<DoctorFinding[]> {
  const store = {
    health: () => checkStore(redis, { durability: config.redis.durability }),
    facts: () => readStoreFacts(redis, () => deps.clock.now()),
  };
  const subject = { ...deps, ...tokenSettingsOf(config) };
  const data = () => (withLastProof ? dataFindings(subject) : storedFindings(subject));
  const settings = { targets: Object.values(config.targets), warnings: configWarnings(config) };
  return checkEverything({ ...deps, store, data }, settings, signal);
}

/**
 * Opens one reconcile scope for each connection and target.
 * @param options.signal ends the wait for Redis
 * @param options.onlyReads as in `connectCommand`
 * @throws Error when Redis does not answer or its data has another version
 */
export async function openScopes(
  config: Config,
  deps: AppDeps,
  { signal, onlyReads }: { signal?: AbortSignal; onlyReads?: boolean } = {},
) {
  const releasers = createReleasers(deps.logger);
  const { redis, reach } = connectCommand(config.redis, deps, { onlyReads });
  releasers.add('redis', () => redis.disconnect());
  const parts: Parts = { ...deps, config, redis, scripts: scriptsOn(redis, config, deps.clock), releasers };
  const running = await reach({ signal })
    .then(async () => runningOf(await createFleetStore(parts, config.redis).read()))
    .catch(async (error: Error) => {
      await releasers.releaseAll();
      throw error;
    });
  // A command at another address, or with another key, has its own breaker: its failures do not count for the service.
  const targets = buildTargets(parts, (settings) => {
    const print = callerPrint(settings);
    return isCalledOtherwise(running, { target: settings.name, print }) ? print : undefined;
  });
  const states = buildStates(parts, (name) => targets.get(name)?.mapping.rulesReadGroups ?? false);
  return {
    scopes: buildScopes(parts, targets, states),
    /** Targets of the settings, by name. */
    targets,
    states,
    operations: createOperationStore(parts, config.redis),
    readFleet: buildFleetReader(parts),
    stop: releasers.releaseAll,
  };
}
