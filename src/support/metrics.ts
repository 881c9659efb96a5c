// Defines every metric of the service: name, help text, labels and buckets.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { LOAD_METRICS, SHARED_HELP } from './load-metrics.ts';
import { RECEIVER_METRICS } from './receiver-metrics.ts';

interface Definition {
  type: 'counter' | 'gauge' | 'histogram';
  name: string;
  /** Labels have few possible values, such as route templates and known words; never ids or paths of requests. */
  labels: readonly string[];
  help: string;
  /** Upper bounds of the buckets of a histogram. */
  buckets?: readonly number[];
}

// Upper bounds of buckets, in seconds.
const TIME_TO_ANSWER = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const TIME_OF_A_CALL = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
const WAITS = [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300];
const LAG = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600];

/** Definitions of the metrics, by the name that code uses. */
export const METRICS = {
  httpRequests: {
    type: 'counter',
    name: 'bridge_http_requests_total',
    labels: ['connection', 'operation', 'status'],
    help: 'SCIM requests of identity providers. Status 499: the caller left before the answer. Connection "none": no address of the bridge.',
  },
  httpSeconds: {
    type: 'histogram',
    name: 'bridge_http_request_seconds',
    labels: ['connection'],
    buckets: TIME_TO_ANSWER,
    help: 'Time from request to answer of a connection, in seconds.',
  },
  deviations: {
    type: 'counter',
    name: 'bridge_profile_deviations_total',
    labels: ['connection', 'kind'],
    help: 'Deviations of identity providers from the RFC that the profile of the connection accepted.',
  },
  quarantineRisk: {
    type: 'gauge',
    name: 'bridge_quarantine_risk',
    labels: ['connection'],
    help: 'Share of failed requests within the last hour, as seen by this process; out of at least 20. Entra quarantines above 0.4. A lookup or deletion that finds nothing is no failure.',
  },
  syncLag: {
    type: 'histogram',
    name: 'bridge_sync_lag_seconds',
    labels: ['target', 'priority'],
    buckets: LAG,
    help: 'Time from an accepted change to the moment when all of it is applied, in seconds.',
  },
  syncOperations: {
    type: 'counter',
    name: 'bridge_sync_operations_total',
    labels: ['target', 'resource', 'operation', 'outcome'],
    help: 'Writes to the platform by what they do. Outcome: applied, refused (4xx) or failed (no answer, 429, 5xx).',
  },
  outboxDirty: {
    type: 'gauge',
    name: 'bridge_outbox_dirty',
    labels: ['target'],
    help: `Resources that are not equal at the target yet. ${SHARED_HELP}`,
  },
  outboxPending: {
    type: 'gauge',
    name: 'bridge_outbox_pending',
    labels: ['target'],
    help: `Of those, handed to the queue or being synced. ${SHARED_HELP}`,
  },
  outboxOldest: {
    type: 'gauge',
    name: 'bridge_outbox_oldest_seconds',
    labels: ['target'],
    help: `Age of the oldest accepted change that is not applied, in seconds; 0 when all is applied. ${SHARED_HELP}`,
  },
  ...LOAD_METRICS,
  coverage: {
    type: 'gauge',
    name: 'bridge_coverage',
    labels: ['target', 'resource', 'state'],
    help: `Users and groups by how they stood when the last reconcile ended: linked, seen (of the linked), pending, held, deadLetters, exceptions, missing; desired: the sum of all but seen, in which a leaver counts until the account is closed. ${SHARED_HELP}`,
  },
  directoryFaults: {
    type: 'gauge',
    name: 'bridge_directory_faults',
    labels: ['connection'],
    help: `Entries of derived data that differ from the records, as the last hourly proof found. ${SHARED_HELP}`,
  },
  logBroken: {
    type: 'gauge',
    name: 'bridge_log_broken',
    labels: ['connection', 'log'],
    help: `Whether an entry of a log was altered or taken out, as the last hourly check of its hash chain found; log is acts, or log and the target. ${SHARED_HELP}`,
  },
  conflicts: {
    type: 'gauge',
    name: 'bridge_conflicts',
    labels: ['target'],
    help: `Differences that the last comparison found and no write resolves before a person has acted, without dead letters. ${SHARED_HELP}`,
  },
  deadLetters: {
    type: 'gauge',
    name: 'bridge_dead_letters',
    labels: ['target'],
    help: `Resources that a person has to look at. ${SHARED_HELP}`,
  },
  onHold: {
    type: 'gauge',
    name: 'bridge_hold',
    labels: ['target'],
    help: `1 while an operator holds all writes. ${SHARED_HELP}`,
  },
  guardHeld: {
    type: 'gauge',
    name: 'bridge_guard_held',
    labels: ['target', 'kind'],
    help: `Destructive writes that wait for approval. ${SHARED_HELP}`,
  },
  exceptions: {
    type: 'gauge',
    name: 'bridge_exceptions',
    labels: ['target', 'reason'],
    help: `Resources that stay otherwise than desired until a person acts. Reason: Rejected, LastAdministrator, Dropped, NotAdopted, Held, Protected; OnHold: an order of hold. ${SHARED_HELP}`,
  },
  exceptionsOldest: {
    type: 'gauge',
    name: 'bridge_exceptions_oldest_seconds',
    labels: ['target', 'reason'],
    help: `Age of the oldest exception of a reason, in seconds; 0 when there is none. ${SHARED_HELP}`,
  },
  platformRequests: {
    type: 'counter',
    name: 'bridge_platform_requests_total',
    labels: ['target', 'resource', 'method', 'status'],
    help: 'Calls to the platform. Status 0: no complete answer. Calls that the bridge itself broke off are left out.',
  },
  platformSeconds: {
    type: 'histogram',
    name: 'bridge_platform_request_seconds',
    labels: ['target'],
    buckets: TIME_OF_A_CALL,
    help: 'Time of a call to the platform without its wait for the rate limit, in seconds.',
  },
  rateWait: {
    type: 'histogram',
    name: 'bridge_rate_wait_seconds',
    labels: ['target'],
    buckets: WAITS,
    help: 'Wait of a call for the rate limit that all processes share, for a pause or for the circuit breaker, in seconds.',
  },
  breakerOpen: {
    type: 'gauge',
    name: 'bridge_breaker_open',
    labels: ['target'],
    help: `1 while calls to the platform are suspended but for probes. ${SHARED_HELP}`,
  },
  workerLastFetch: {
    type: 'gauge',
    name: 'bridge_worker_last_fetch_timestamp_seconds',
    labels: ['target'],
    help: 'When this process last asked for work, in Unix seconds; only where a worker runs.',
  },
  drift: {
    type: 'gauge',
    name: 'bridge_drift',
    labels: ['target', 'kind', 'attribution'],
    help: `Differences at the platform that the last comparison found and no push explains, by what would repair them and who caused them; what the repair has removed since counts until the next comparison. ${SHARED_HELP}`,
  },
  reconcileLastSuccess: {
    type: 'gauge',
    name: 'bridge_reconcile_last_success_timestamp_seconds',
    labels: ['target'],
    help: `End of the last comparison that saw everything, in Unix seconds; 0 before the first. ${SHARED_HELP}`,
  },
  reconcileSeconds: {
    type: 'gauge',
    name: 'bridge_reconcile_duration_seconds',
    labels: ['target'],
    help: `Duration of the last comparison, what it repaired included, in seconds. ${SHARED_HELP}`,
  },
  reconcileWrites: {
    type: 'counter',
    name: 'bridge_reconcile_writes_total',
    labels: ['target', 'kind'],
    help: `Changes that comparisons ordered. ${SHARED_HELP}`,
  },
  ...RECEIVER_METRICS,
  redisUp: { type: 'gauge', name: 'bridge_redis_up', labels: [], help: '1 when Redis answers this process.' },
  redisRole: {
    type: 'gauge',
    name: 'bridge_redis_role',
    labels: ['role'],
    help: '1 for the role of the Redis server that this process is connected to; it has to be master.',
  },
  redisLatency: {
    type: 'gauge',
    name: 'bridge_redis_latency_seconds',
    labels: [],
    help: 'Time of one command to Redis and back, in seconds.',
  },
  redisMemoryUsed: {
    type: 'gauge',
    name: 'bridge_redis_memory_used_bytes',
    labels: [],
    help: 'Memory that Redis counts against its limit (used_memory); of a cluster the fullest primary.',
  },
  redisMemoryLimit: {
    type: 'gauge',
    name: 'bridge_redis_memory_limit_bytes',
    labels: [],
    help: 'Limit of the memory of that Redis (maxmemory); no series when none is set.',
  },
  tokenExpiry: {
    type: 'gauge',
    name: 'bridge_token_expiry_timestamp_seconds',
    labels: ['connection', 'token'],
    help: `When an inbound token expires, in Unix seconds; 0 = never. ${SHARED_HELP}`,
  },
  tokenLastUsed: {
    type: 'gauge',
    name: 'bridge_token_last_used_timestamp_seconds',
    labels: ['connection', 'token'],
    help: 'When an inbound token was last used, in Unix seconds; 0 = never. Take max(): each process knows of its own requests at once, and of others a minute later.',
  },
  processes: {
    type: 'gauge',
    name: 'bridge_processes',
    labels: ['role', 'version'],
    help: `Processes of the service that run, by role and version; 0 for those that are silent since a moment ago. ${SHARED_HELP}`,
  },
  fleetFindings: {
    type: 'gauge',
    name: 'bridge_fleet_findings',
    labels: ['finding'],
    help: `Faults of the fleet: redisRefuses (no process can announce itself), noProcess, noApi, noWorker, noScheduler (while a schedule is set), silent (processes), versionsDiffer and settingsDiffer (for a quarter of an hour), targetRemoved (from the settings, with accounts that stay). ${SHARED_HELP}`,
  },
  buildInfo: {
    type: 'gauge',
    name: 'bridge_build_info',
    labels: ['version', 'node', 'role'],
    help: 'Always 1; what runs here is in the labels.',
  },
} as const satisfies Record<string, Definition>;

type Definitions = typeof METRICS;
/** Label names of a metric. */
type Label<K extends keyof Definitions> = Definitions[K]['labels'][number];
/** Class of prom-client for the type of a metric. */
type Instrument<K extends keyof Definitions> = Definitions[K]['type'] extends 'counter'
  ? Counter<Label<K>>
  : Definitions[K]['type'] extends 'gauge'
    ? Gauge<Label<K>>
    : Histogram<Label<K>>;

export type Metrics = { [K in keyof Definitions]: Instrument<K> } & {
  contentType: string;
  /** Returns the metrics in Prometheus text format. */
  text(): Promise<string>;
};

/** Sampling interval of the event loop delay, milliseconds. */
const LOOP_PRECISION_MS = 50;

/** Creates a registry with all metrics and with the default metrics of Node.js. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS });
  const instruments = Object.entries(METRICS as Record<string, Definition>).map(([key, definition]) => [
    key,
    createInstrument(definition, registry),
  ]);
  return {
    ...(Object.fromEntries(instruments) as { [K in keyof Definitions]: Instrument<K> }),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function createInstrument({ type, name, help, labels, buckets }: Definition, registry: Registry): unknown {
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  if (type === 'counter') return new Counter(options);
  if (type === 'gauge') return new Gauge(options);
  return new Histogram({ ...options, buckets: [...(buckets ?? [])] });
}
