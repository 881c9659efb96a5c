// Defines every metric of the service: name, labels, help text and buckets.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

interface Definition {
  type: 'counter' | 'gauge' | 'histogram';
  name: string;
  /** Labels have few possible values: names of connections, targets and tokens, and fixed words; never ids or paths. */
  labels: readonly string[];
  help: string;
  /** Whether the value is read from Redis, so that every process reports the same one, and a sum would count it several times. */
  isShared: boolean;
  /** Upper bounds of the buckets of a histogram. */
  buckets?: readonly number[];
}

/** Added to the help of shared metrics. */
export const SHARED_HELP = 'The same from every process: take max(), not sum().';

/** Returns a function that defines a metric: `(name, labels)(help)`, of a histogram `(name, labels, buckets)(help)`. */
const define =
  <const Type extends Definition['type']>(type: Type, isShared = false) =>
  <const Labels extends readonly string[]>(name: string, labels: Labels, buckets: readonly number[] = []) =>
  (help: string) => ({
    ...{ type, name, labels, isShared },
    help: isShared ? `${help} ${SHARED_HELP}` : help,
    ...(buckets.length > 0 && { buckets }),
  });
const counter = define('counter');
const histogram = define('histogram');
const gauge = define('gauge');
const sharedCounter = define('counter', true);
const sharedGauge = define('gauge', true);

// Upper bounds of buckets, in seconds.
const TIME_TO_ANSWER = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const TIME_OF_A_CALL = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
const WAITS = [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300];
const LAG = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600];

/** Definitions of the metrics, by the name that code uses. */
export const METRICS = {
  httpRequests: counter('bridge_http_requests_total', ['connection', 'operation', 'status'])(
    'Requests, those of identity providers by their connection. Status 499: the caller left before the answer. Connection "none": the admin API, receivers of events, and addresses that the bridge does not have.',
  ),
  httpSeconds: histogram(
    'bridge_http_request_seconds',
    ['connection'],
    TIME_TO_ANSWER,
  )('Time from request to answer of a connection, in seconds.'),
  deviations: counter('bridge_profile_deviations_total', ['connection', 'kind'])(
    'Deviations of identity providers from the RFC that the profile of the connection accepted.',
  ),
  quarantineRisk: gauge('bridge_quarantine_risk', ['connection'])(
    'Share of failed requests within the last hour, as seen by this process; out of at least 20. Entra quarantines above 0.4. A lookup or deletion that finds nothing is no failure. Connection "none": requests to SCIM addresses that the bridge does not have: paths with /scim/v2 or a SCIM endpoint such as /Users.',
  ),
  syncLag: histogram(
    'bridge_sync_lag_seconds',
    ['target', 'priority'],
    LAG,
  )('Time from an accepted change to the moment when all of it is applied, in seconds.'),
  syncOperations: counter('bridge_sync_operations_total', ['target', 'resource', 'operation', 'outcome'])(
    'Writes to the platform by what they do. Outcome: applied, refused (4xx) or failed (no answer, 429, 5xx).',
  ),
  outboxDirty: sharedGauge('bridge_outbox_dirty', ['target'])(
    'Resources that are not equal at the target yet, without those that wait for a held change.',
  ),
  outboxPending: sharedGauge('bridge_outbox_pending', ['target'])(
    'Resources of bridge_outbox_dirty that are handed to the queue or being synced.',
  ),
  outboxOldest: sharedGauge('bridge_outbox_oldest_seconds', ['target'])(
    'Age of the oldest accepted change that is not applied and waits for no held change, in seconds; 0 when there is none.',
  ),
  loadDone: sharedGauge('bridge_load_done', ['target'])(
    'While many changes wait, as in a first load: resources that left the backlog since it began; absent otherwise.',
  ),
  loadTotal: sharedGauge('bridge_load_total', ['target'])(
    'Resources of the load, done and left; absent while nothing loads.',
  ),
  loadRate: sharedGauge('bridge_load_rate', ['target'])(
    'Resources of the load that are done in a second, over the last minute; absent while nothing loads.',
  ),
  reconcileGap: sharedGauge(
    'bridge_reconcile_expected_gap_seconds',
    [],
  )(
    'Longest time between two reconciles by reconcile.schedule, or by reconcile.expectedSchedule; absent without both.',
  ),
  reconcileAwaitedSince: sharedGauge('bridge_reconcile_awaited_since_timestamp_seconds', ['target'])(
    'Since when the first complete comparison is expected by a schedule, in Unix seconds, over all restarts; absent once one has succeeded.',
  ),
  reconcileFailures: sharedGauge('bridge_reconcile_failures', ['target'])(
    'Reconciles in a row that failed, or whose reads of the platform were not complete.',
  ),
  coverage: sharedGauge('bridge_coverage', ['target', 'resource', 'state'])(
    'Users and groups by how they stood when the last reconcile ended: linked, seen (of the linked; missing while the run could not read the whole list), pending, held, deadLetters, exceptions, missing; desired: the sum of all but seen, in which a leaver counts until the account is closed.',
  ),
  directoryFaults: sharedGauge('bridge_directory_faults', ['connection'])(
    'Entries of derived data that differ from the records, as the last hourly proof found.',
  ),
  logBroken: sharedGauge('bridge_log_broken', ['connection', 'log'])(
    'Whether an entry of a log was altered or taken out, as the last hourly check of its hash chain found; log is acts, or log and the target.',
  ),
  conflicts: sharedGauge('bridge_conflicts', ['target'])(
    'Differences that the last comparison found and no write resolves before a person has acted, without dead letters.',
  ),
  deadLetters: sharedGauge('bridge_dead_letters', ['target'])('Resources that a person has to look at.'),
  onHold: sharedGauge('bridge_hold', ['target'])('1 while an operator holds all writes.'),
  guardHeld: sharedGauge('bridge_guard_held', ['target', 'kind'])(
    'Destructive writes that wait for approval.',
  ),
  exceptions: sharedGauge('bridge_exceptions', ['target', 'reason'])(
    'Resources that stay otherwise than desired until a person acts. Reason: Rejected, LastAdministrator, Dropped, NotAdopted, Held, Protected; OnHold: the target is on hold.',
  ),
  exceptionsOldest: sharedGauge('bridge_exceptions_oldest_seconds', ['target', 'reason'])(
    'Age of the oldest exception of a reason, in seconds; 0 when there is none.',
  ),
  platformRequests: counter('bridge_platform_requests_total', ['target', 'resource', 'method', 'status'])(
    'Calls to the platform. Status 0: no complete answer. Calls that the bridge itself broke off are left out.',
  ),
  platformSeconds: histogram(
    'bridge_platform_request_seconds',
    ['target'],
    TIME_OF_A_CALL,
  )('Time of a call to the platform without its wait for the rate limit, in seconds.'),
  rateWait: histogram(
    'bridge_rate_wait_seconds',
    ['target'],
    WAITS,
  )(
    'Wait of a call for the rate limit that all processes share, for a pause or for the circuit breaker, in seconds.',
  ),
  breakerOpen: sharedGauge('bridge_breaker_open', ['target'])(
    '1 while calls to the platform are suspended but for probes.',
  ),
  workerLastFetch: gauge('bridge_worker_last_fetch_timestamp_seconds', ['target'])(
    'When this process last asked for work, in Unix seconds; only where a worker runs.',
  ),
  drift: sharedGauge('bridge_drift', ['target', 'kind', 'attribution'])(
    'Differences at the platform that the last comparison found and no push explains, by what would repair them and who caused them. A difference that was repaired since counts until the next comparison.',
  ),
  reconcileLastSuccess: sharedGauge('bridge_reconcile_last_success_timestamp_seconds', ['target'])(
    'End of the last complete comparison, in Unix seconds; 0 before the first.',
  ),
  reconcileSeconds: sharedGauge('bridge_reconcile_duration_seconds', ['target'])(
    'Duration of the last comparison, including its repairs, in seconds.',
  ),
  reconcileWrites: sharedCounter('bridge_reconcile_writes_total', ['target', 'kind'])(
    'Changes that comparisons ordered.',
  ),
  eventsPending: sharedGauge('bridge_events_pending', ['connection'])(
    'Security events that the receiver of a connection has not taken yet.',
  ),
  eventsOldest: sharedGauge('bridge_events_oldest_seconds', ['connection'])(
    'Age of the oldest security event of bridge_events_pending, in seconds; 0 when all are taken.',
  ),
  eventsKept: sharedGauge('bridge_events_refused', ['connection'])(
    'Security events that the receiver refused and a person has to look at.',
  ),
  events: sharedCounter('bridge_events_total', ['connection', 'outcome'])(
    'Security events that are no longer pending: delivered, refused, or dropped because they were too many or too old.',
  ),
  notices: counter('bridge_notices_total', ['channel', 'result'])(
    'Attempts of this process to deliver a notice. Result: delivered, later (sent again) or refused.',
  ),
  redisUp: gauge('bridge_redis_up', [])('1 when Redis answers this process.'),
  redisRole: gauge('bridge_redis_role', ['role'])(
    '1 for the role of the Redis server that this process is connected to; it has to be master.',
  ),
  redisLatency: gauge(
    'bridge_redis_latency_seconds',
    [],
  )('Time of one command to Redis and back, in seconds.'),
  redisMemoryUsed: gauge(
    'bridge_redis_memory_used_bytes',
    [],
  )('Memory that Redis counts against its limit (used_memory); of a cluster the fullest primary.'),
  redisMemoryLimit: gauge(
    'bridge_redis_memory_limit_bytes',
    [],
  )(
    'Limit of the memory of Redis (maxmemory), of a cluster that of the fullest primary; no series when none is set.',
  ),
  tokenExpiry: sharedGauge('bridge_token_expiry_timestamp_seconds', ['connection', 'token'])(
    'When an inbound token expires, in Unix seconds; 0 = never.',
  ),
  tokenLastUsed: gauge('bridge_token_last_used_timestamp_seconds', ['connection', 'token'])(
    'When an inbound token was last used, in Unix seconds; 0 = never. Take max(): each process knows of its own requests at once, and of those of others within two minutes.',
  ),
  processes: sharedGauge('bridge_processes', ['role', 'version'])(
    'Processes of the service that run, by role and version; 0 for those that are silent since a moment ago.',
  ),
  fleetFindings: sharedGauge('bridge_fleet_findings', ['finding'])(
    'Faults of the fleet: redisRefuses (no process can announce itself), redisUnsafe (Redis may evict keys, or is otherwise not as required, so /readyz is 503), noProcess, noApi, noWorker, noScheduler (while a schedule is set), silent (processes), versionsDiffer and settingsDiffer (for a quarter of an hour), targetRemoved (from the settings, with accounts that stay), dataLost (Redis came back empty).',
  ),
  buildInfo: gauge('bridge_build_info', ['version', 'node', 'role'])(
    'Always 1; what runs here is in the labels.',
  ),
} satisfies Record<string, Definition>;

type Definitions = typeof METRICS;
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
