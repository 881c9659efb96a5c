// Composes the service: builds every part in dependency order (`startParts`: Redis and instruments, targets, desired states, work
// that no request begins, HTTP), and stops the parts in the reverse order. Each part adds its stop to the releasers when it starts.
import { checkDataVersion, watchDataVersion, type WatchedDataVersion } from './app/data-version.ts';
import { buildScopes } from './app/scopes.ts';
import { joinFleet } from './app/fleet.ts';
import { createInstruments } from './app/instruments.ts';
import { STORE_WAIT_MS, scriptsOn, type AppDeps, type ServiceParts } from './app/parts.ts';
import { expectReconcile, noteTargets } from './app/note-targets.ts';
import { startNotices } from './app/notices.ts';
import { watchForOlderData } from './app/older-data.ts';
import { recordHistory } from './app/record-history.ts';
import { serveHttp, type ServedHttp } from './app/serve-http.ts';
import { buildStates, buildTargets } from './app/targets.ts';
import type { Config } from './config/schema.ts';
import type { DesiredState } from './directory/desired-state.ts';
import { connectRedis, untilReady } from './directory/redis/connection.ts';
import { createOperationStore } from './directory/logs/operations.ts';
import { requireFreePorts } from './http/server.ts';
import type { TargetQueue } from './queue/worker.ts';
import { startProofPass } from './ops/doctor/proof-pass.ts';
import { createAccountLook } from './ops/person/account-look.ts';
import { startFinishingForgets } from './ops/doctor/unfinished-forgets.ts';
import { expectedGapMs } from './reconcile/apply/expected-gap.ts';
import { startScheduler } from './reconcile/apply/schedule.ts';
import { createReleasers, type Releasers } from './support/releasers.ts';
import type { Target } from './sync/target.ts';

export type { AppDeps } from './app/parts.ts';

export type Role = 'all' | 'api' | 'worker' | 'scheduler';

export interface App extends ServedHttp, WatchedDataVersion {
  /** Stops http, queues, platform clients and Redis, in this order. */
  stop: () => Promise<void>;
}

/**
 * Starts the service. Neither Redis nor a platform has to be reachable: the health report names what is
 * missing, and the parts reconnect. Rejects when a port cannot be opened, when Redis holds data of another version, and while
 * a backup is put back.
 */
export async function startApp(config: Config, role: Role, deps: AppDeps): Promise<App> {
  const releasers = createReleasers(deps.logger);
  try {
    return await startParts(config, role, deps, releasers);
  } catch (error) {
    // A service that could not start whole must not keep working in the background.
    await releasers.releaseAll();
    throw error;
  }
}

async function startParts(config: Config, role: Role, deps: AppDeps, releasers: Releasers): Promise<App> {
  const { host, port, adminPort, metricsPort } = config.server;
  await requireFreePorts(host, [port, adminPort, metricsPort]);
  const { parts, refused } = await openParts(config, role, deps, releasers);
  const targets = buildTargets(parts);
  await joinFleet(parts, role, targets);
  // The version is checked again, because a restore may have begun before it could see this process among the running ones.
  await checkDataVersion(parts);
  const states = buildStates(parts, (name) => targets.get(name)?.mapping.rulesReadGroups ?? false);
  // Watched before the queues start: after each new connection to Redis, the check for older data comes before the first sync.
  await watchForOlderData(parts, states);
  const { schedule, expectedSchedule } = config.reconcile;
  const reconcileGapMs = expectedGapMs(schedule ?? expectedSchedule);
  expectReconcile(parts, states, reconcileGapMs);
  const queues = await startWork(parts, role, targets, states);
  const served = await serveHttp(parts, role, { targets, states, queues, reconcileGapMs });
  return { ...served, refused, stop: releasers.releaseAll };
}

/** Connects Redis, watches the version of its data, loads the scripts and opens the instruments. */
async function openParts(
  config: Config,
  role: Role,
  deps: AppDeps,
  releasers: Releasers,
): Promise<{ parts: ServiceParts } & WatchedDataVersion> {
  const redis = connectRedis(config.redis, 'commands', deps.logger);
  releasers.add('redis', () => redis.disconnect());
  await untilReady(redis, STORE_WAIT_MS);
  const { refused } = await watchDataVersion(deps, { redis, config }, releasers);
  const instruments = createInstruments(deps, { config, role });
  const scripts = scriptsOn(redis, config, deps.clock);
  return { parts: { ...deps, config, redis, scripts, releasers, instruments }, refused };
}

/** Starts the work of the role that no request begins: queues, schedule, notices. Returns the queues by the name of the target. */
async function startWork(
  parts: ServiceParts,
  role: Role,
  targets: Map<string, Target>,
  states: DesiredState[],
): Promise<Map<string, TargetQueue>> {
  const { config, redis, releasers, instruments } = parts;
  const { noted, stop: stopNoting } = noteTargets(parts);
  recordHistory(parts, instruments.tallies, states);
  let queues = new Map<string, TargetQueue>();
  if (role === 'all' || role === 'worker') {
    // The queues are imported only here, because an `api` process does not need BullMQ in memory. Nothing is imported after the
    // start, when an update may have replaced the files.
    const { startQueues } = await import('./app/queues.ts');
    queues = startQueues(parts, targets, states);
  }
  if (role === 'all' || role === 'scheduler') {
    const options = { ...config.reconcile, returnedTargetsNoted: noted };
    const scheduler = startScheduler(parts, buildScopes(parts, targets, states), options);
    releasers.add('scheduler', scheduler.stop);
  }
  // Released before the scheduler (releasers run from the last to the first): the stop of the scheduler waits for `noted`, and
  // `stopNoting` ends that wait.
  releasers.add('known targets', stopNoting);
  // A worker proves derived data, sends notices and completes interrupted orders to forget too, because an installation may have no
  // scheduler. Leases let one process do each at a time.
  if (role !== 'api') {
    releasers.add('proof of derived data', startProofPass(parts, states));
    startNotices(parts, states, new Map([...targets].map(([name, { breaker }]) => [name, breaker])));
    const operations = createOperationStore({ redis }, config.redis);
    const finishing = startFinishingForgets({ ...parts, operations }, states, {
      lookAt: createAccountLook(targets.values()),
      handoverRules: (name) => config.targets[name],
    });
    releasers.add('orders to forget', finishing);
  }
  return queues;
}
