// Serves HTTP: SCIM and security events for providers on `port`; health, admin API, its page and metrics for operators on `port`
// too, unless they have ports of their own (`adminPort`, `metricsPort`). First builds the request listeners (`buildApps`), then
// opens the ports (`openPorts`). Releasers run from the last added to the first.
import { watchSecretFiles } from '../config/secret-files.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { ProcessRole } from '../directory/fleet/fleet-store.ts';
import { createAdmission } from '../http/admission/admission.ts';
import { protectMetrics } from '../http/metrics.ts';
import { createScimRouters } from '../http/scim/connections.ts';
import { createHttpApp, createMetricsApp, listen } from '../http/server.ts';
import { traced } from '../http/traced.ts';
import type { TargetQueue } from '../queue/worker.ts';
import type { Target } from '../sync/target.ts';
import { buildAdmin, buildAdminCheck } from './admin.ts';
import { openCredentials, scimConnections } from './credentials.ts';
import { buildEvents } from './events.ts';
import { buildFleetReader } from './fleet.ts';
import { buildHealth } from './health.ts';
import { buildMetricsRouter } from './metrics-router.ts';
import type { ServiceParts } from './parts.ts';

/** The parts that requests read. */
interface Running {
  targets: Map<string, Target>;
  states: DesiredState[];
  queues: Map<string, TargetQueue>;
  /** Longest time between two scheduled reconciles, milliseconds; null without a schedule. */
  reconcileGapMs: number | null;
}

export interface ServedHttp {
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
}

/** Longest time that the stop of a port waits for running requests, milliseconds; then their connections are closed. */
const HTTP_DEADLINE_MS = 10_000;

export async function serveHttp(
  parts: ServiceParts,
  role: ProcessRole,
  running: Running,
): Promise<ServedHttp> {
  let stopping = false;
  const apps = await buildApps(parts, role, running, () => stopping);
  const { http, ...ports } = await openPorts(parts, apps);
  const { events, admin, hasScim } = apps;
  const drain = (): Promise<void> => {
    stopping = true;
    http.drain();
    events.drain();
    admin?.live.end();
    return parts.clock.sleep(hasScim ? parts.config.server.drainMs : 0);
  };
  return { ...ports, drain };
}

/** The request listeners of the ports, and the parts that `drain` and the stop end. */
type Apps = Awaited<ReturnType<typeof buildApps>>;

/**
 * Builds the request listeners of the ports. SCIM, events and the admin API are served by a process with the role `all` or `api`
 * only.
 */
async function buildApps(
  parts: ServiceParts,
  role: ProcessRole,
  { targets, states, queues, reconcileGapMs }: Running,
  isStopping: () => boolean,
) {
  const { config, instruments, releasers } = parts;
  const { adminPort, metricsPort } = config.server;
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
  const checkAdmin = buildAdminCheck(parts);
  const readFleet = buildFleetReader(parts);
  const health = buildHealth(parts, targets, states, queues, { isStopping, checkAdmin, readFleet });
  const measured = { targets, states, queues, credentialStore, events, readFleet, reconcileGapMs };
  const metrics = buildMetricsRouter(parts, instruments, measured);
  const admin = isApi ? buildAdmin(parts, targets, states, { admission, checkAdmin, readFleet }) : undefined;
  const observed = { ...parts, observe: parts.tracing ? traced(observe, parts.tracing) : observe };
  const forOperators = {
    health,
    admin: admin?.router,
    metrics: metricsPort === null ? protectMetrics(metrics, parts, checkAdmin) : undefined,
  };
  const forProviders = { scim: scimRouters, events: events.routers };
  return {
    operatorsApp: createHttpApp({ ...observed, ...forOperators, scim: new Map() }),
    app: createHttpApp({ ...observed, ...forProviders, ...(adminPort === null ? forOperators : {}) }),
    metrics,
    events,
    admin,
    hasScim: scimStates.length > 0,
  };
}

/** Opens the ports. @returns the ports, and the server of `port` */
async function openPorts(
  { config, releasers }: ServiceParts,
  { operatorsApp, app, metrics, events, admin }: Apps,
) {
  const { host, adminPort, metricsPort } = config.server;
  // The port of operators is opened before the port of providers, and so closed after it: probes are answered until the end.
  const operators = adminPort === null ? undefined : await listen(operatorsApp, { host, port: adminPort });
  if (operators) releasers.add('admin port', () => operators.stop(HTTP_DEADLINE_MS));
  const http = await listen(app, config.server);
  releasers.add('http', () => http.stop(HTTP_DEADLINE_MS));
  releasers.add('receivers of events', events.drain);
  // An open stream would keep the server from closing.
  releasers.add('live status', () => admin?.live.stop());
  const ports = { http, port: http.port, adminPort: operators?.port ?? http.port };
  if (metricsPort === null) return { ...ports, metricsPort: ports.adminPort };
  const metricsServer = await listen(createMetricsApp(metrics), { host, port: metricsPort });
  releasers.add('metrics', () => metricsServer.stop(0));
  return { ...ports, metricsPort: metricsServer.port };
}
