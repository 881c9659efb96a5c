// Composes the service: builds every part in dependency order and stops the parts in the reverse order.
import { buildAdmin, buildAdminCheck } from './app/admin.ts';
import { openCredentials, scimConnections } from './app/credentials.ts';
import { checkDataVersion, watchDataVersion, type WatchedDataVersion } from './app/data-version.ts';
import { buildScopes } from './app/scopes.ts';
import { buildEvents } from './app/events.ts';
import { buildFleetReader, joinFleet } from './app/fleet.ts';
import { buildHealth } from './app/health.ts';
import { createInstruments } from './app/instruments.ts';
import { STORE_WAIT_MS, scriptsOn, type AppDeps, type ServiceParts } from './app/parts.ts';
import { expectReconcile, noteTargets } from './app/note-targets.ts';
import { startNotices } from './app/notices.ts';
import { watchForOlderData } from './app/older-data.ts';
import { recordHistory } from './app/record-history.ts';
import { buildMetricsRouter } from './app/metrics-router.ts';
import { buildStates, buildTargets } from './app/targets.ts';
import type { Config } from './config/schema.ts';
import type { DesiredState } from './directory/desired-state.ts';
import { watchSecretFiles } from './config/secret-files.ts';
import { connectRedis, untilReady } from './directory/redis/connection.ts';
import { createOperationStore } from './directory/logs/operations.ts';
import { createAdmission } from './http/admission/admission.ts';
import { createScimRouters } from './http/scim/connections.ts';
import { protectMetrics } from './http/metrics.ts';
import { createHttpApp, createMetricsApp, listen, requireFreePorts } from './http/server.ts';
import { traced } from './http/traced.ts';
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

export interface App extends WatchedDataVersion {
  /** TCP port of the HTTP server. */
  port: number;
  /** TCP port of health, the admin API and its page; equal to `port` unless `server.adminPort` is set. */
  adminPort: number;
  /** TCP port of /metrics; equal to `adminPort` unless `server.metricsPort` is set. */
  metricsPort: number;
  /**
   * Turns readiness off and serves requests for another `server.drainMs`, so that clients move to another
   * replica. Resolves when that time has passed; at once in a process without SCIM endpoints.
   */
  drain: () => Promise<void>;
  /** Stops http, queues, platform clients and Redis, in this order. */
  stop: () => Promise<void>;
}

const HTTP_DEADLINE_MS = 10_000;

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
  // A restore may have begun before it could see this process.
  await checkDataVersion(parts);
  const states = buildStates(parts, (name) => targets.get(name)?.mapping.rulesReadGroups ?? false);
  // Before the queues start, so that after each new connection to Redis the check comes before the first sync.
  await watchForOlderData(parts, states);
  const { schedule, expectedSchedule } = config.reconcile;
  const reconcileGapMs = expectedGapMs(schedule ?? expectedSchedule);
  expectReconcile(parts, states, reconcileGapMs);
  const queues = await startWork(parts, role, targets, states);
  const served = await serve(parts, role, { targets, states, queues, reconcileGapMs });
  return { ...served, refused, stop: releasers.releaseAll };
}

/** Connects Redis, loads the scripts and opens the instruments. */
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
    // Imported here, because an `api` process does not need BullMQ in memory. Nothing is imported after the start, when an update
    // may have replaced the files.
    const { startQueues } = await import('./app/queues.ts');
    queues = startQueues(parts, targets, states);
  }
  if (role === 'all' || role === 'scheduler') {
    const options = { ...config.reconcile, noted };
    const scheduler = startScheduler(parts, buildScopes(parts, targets, states), options);
    releasers.add('scheduler', scheduler.stop);
    releasers.add('proof of derived data', startProofPass(parts, states));
  }
  // Released before the scheduler (releasers run from the last to the first): the stop of the scheduler waits for `noted`, and
  // `stopNoting` ends that wait.
  releasers.add('known targets', stopNoting);
  // A worker sends notices and completes interrupted orders to forget too, because an installation may have no scheduler. Leases
  // let one process do each at a time.
  if (role !== 'api') {
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

/** The parts that requests read. */
interface Running {
  targets: Map<string, Target>;
  states: DesiredState[];
  queues: Map<string, TargetQueue>;
  /** Longest time between two scheduled reconciles, milliseconds; null without a schedule. */
  reconcileGapMs: number | null;
}

/** Opens the HTTP ports: SCIM and events for providers, health, admin API and metrics for operators. */
async function serve(
  parts: ServiceParts,
  role: Role,
  { targets, states, queues, reconcileGapMs }: Running,
): Promise<Pick<App, 'port' | 'adminPort' | 'metricsPort' | 'drain'>> {
  const { clock, config, instruments, releasers } = parts;
  const { host, adminPort, metricsPort } = config.server;
  const isApi = role === 'all' || role === 'api';
  const isWorker = role === 'all' || role === 'worker';
  const scimStates = isApi ? states : [];
  const { requests: observe, onDeviation } = instruments;
  const admission = createAdmission(config.server);
  const events = buildEvents(parts, states, { admission, api: isApi, worker: isWorker });
  const credentialStore = await openCredentials(parts, scimStates);
  const secretFiles = watchSecretFiles(parts, config, credentialStore.renew);
  releasers.add('secret files', secretFiles.stop);
  const scimParts = scimConnections(config, scimStates, credentialStore);
  const scimRouters = createScimRouters({ ...parts, admission, onDeviation }, scimParts, config.server);
  let stopping = false;
  const checkAdmin = buildAdminCheck(parts);
  const readFleet = buildFleetReader(parts);
  const forHealth = { isStopping: () => stopping, checkAdmin, readFleet };
  const health = buildHealth(parts, targets, states, queues, forHealth);
  const measured = { targets, states, queues, credentialStore, events, readFleet, reconcileGapMs };
  const metrics = buildMetricsRouter(parts, instruments, measured);
  const hasMetricsPort = metricsPort !== null;
  const admin = isApi ? buildAdmin(parts, targets, states, { admission, checkAdmin, readFleet }) : undefined;
  const observed = { ...parts, observe: parts.tracing ? traced(observe, parts.tracing) : observe };
  const forOperators = {
    health,
    admin: admin?.router,
    metrics: hasMetricsPort ? undefined : protectMetrics(metrics, parts, checkAdmin),
  };
  const forProviders = { scim: scimRouters, events: events.routers };
  const operatorsApp = createHttpApp({ ...observed, ...forOperators, scim: new Map() });
  const app = createHttpApp({ ...observed, ...forProviders, ...(adminPort === null ? forOperators : {}) });
  // Opened before the port of the providers, and so closed after it: probes and operators are answered until then.
  const operators = adminPort === null ? undefined : await listen(operatorsApp, { host, port: adminPort });
  if (operators) releasers.add('admin port', () => operators.stop(HTTP_DEADLINE_MS));
  const http = await listen(app, config.server);
  releasers.add('http', () => http.stop(HTTP_DEADLINE_MS));
  releasers.add('receivers of events', events.drain);
  // An open stream would keep the server from closing.
  releasers.add('live status', () => admin?.live.stop());
  const drain = (): Promise<void> => {
    stopping = true;
    http.drain();
    events.drain();
    admin?.live.end();
    return clock.sleep(scimStates.length > 0 ? config.server.drainMs : 0);
  };
  const ports = { port: http.port, adminPort: operators?.port ?? http.port };
  if (metricsPort === null) return { ...ports, metricsPort: ports.adminPort, drain };
  const metricsServer = await listen(createMetricsApp(metrics), { host, port: metricsPort });
  releasers.add('metrics', () => metricsServer.stop(0));
  return { ...ports, metricsPort: metricsServer.port, drain };
}
