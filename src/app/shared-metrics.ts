// Reads the state that all processes share from Redis into the metrics, at each scrape: whether Redis answers; the backlog, the
// exceptions and the last reconcile runs of each target, over all connections that feed it; then the checks and events of each
// connection, and the processes of the service.
import { loadRate } from '../ops/status/load-progress.ts';
import { EXCEPTION_REASONS } from '../directory/outbox/exceptions.ts';
import type { Backlog } from '../directory/outbox/backlog.ts';
import type { BreakerState } from '../directory/outbox/breaker.ts';
import type { StorePulse } from '../directory/redis/store-health.ts';
import type { LogCheck } from '../directory/logs/last-log-check.ts';
import type { EventDelivery } from '../directory/logs/event-stream.ts';
import { FLEET_FINDINGS, type FleetReport, type ReadFleet } from '../ops/status/fleet.ts';
import { total } from '../support/counted.ts';
import { METRICS, type Metrics } from '../support/metrics.ts';
import type { TokenTimes } from '../tokens/credentials.ts';

/** Functions that a scrape calls to read current values. */
export interface MetricSources {
  /** Whether Redis answers, how fast, in which role and with how much memory. */
  pulse: () => Promise<StorePulse>;
  /** One backlog for each connection that feeds the target. */
  backlogs: (target: string) => Promise<Backlog[]>;
  breaker: (target: string) => Promise<BreakerState>;
  fleet: ReadFleet;
  /** Longest time between two scheduled reconciles; null without a schedule. */
  reconcileGapMs: number | null;
  /** Tokens of the connections; empty in a process without SCIM endpoints. */
  tokens: () => TokenTimes[];
  /** Security events of the connections that have a receiver. */
  events: () => Promise<{ connection: string; delivery: EventDelivery }[]>;
  /** Number of faults that the last proof of derived data found, by connection. */
  faults: () => Promise<{ connection: string; faults: number }[]>;
  /** Last check of each hash chain. */
  logChecks: () => Promise<(LogCheck & { connection: string })[]>;
  /** End of the last sweep, which moves due marks to the queue, by target, Unix milliseconds; empty without workers. */
  lastSweeps: () => Map<string, number>;
}

/**
 * Reads the shared state from Redis into the metrics. While Redis is unreachable its series are removed instead
 * of keeping old values.
 */
export async function readShared(metrics: Metrics, targets: string[], sources: MetricSources): Promise<void> {
  const pulse = await sources.pulse();
  showPulse(metrics, pulse);
  const states = pulse.up ? await Promise.all(targets.map((target) => readTarget(sources, target))) : [];
  for (const shared of SHARED) metrics[shared].reset();
  // A gauge without labels would be 0 after `reset`, so it is removed without a schedule.
  if (sources.reconcileGapMs === null) metrics.reconcileGap.remove();
  else metrics.reconcileGap.set(sources.reconcileGapMs / 1000);
  for (const state of states) if (state) showTarget(metrics, state);
  if (pulse.up) await showConnectionsAndFleet(metrics, sources);
  for (const [target, at] of sources.lastSweeps()) metrics.workerLastFetch.set({ target }, at / 1000);
}

function showPulse(metrics: Metrics, pulse: StorePulse): void {
  metrics.redisUp.set(pulse.up ? 1 : 0);
  metrics.redisRole.reset();
  // Redis reports a replica as `slave`.
  for (const role of new Set(['master', 'slave', ...(pulse.role ? [pulse.role] : [])])) {
    metrics.redisRole.set({ role }, role === pulse.role ? 1 : 0);
  }
  if (pulse.up) metrics.redisLatency.set(pulse.latencyMs / 1000);
  else metrics.redisLatency.remove();
  showMemory(metrics, pulse);
}

function showMemory({ redisMemoryUsed, redisMemoryLimit }: Metrics, pulse: StorePulse): void {
  if (pulse.up) redisMemoryUsed.set(pulse.memory.used);
  else redisMemoryUsed.remove();
  if (pulse.up && pulse.memory.limit > 0) redisMemoryLimit.set(pulse.memory.limit);
  else redisMemoryLimit.remove();
}

/** Metrics that are removed before each read, so that a target or connection that is gone leaves no series. */
const SHARED = (Object.keys(METRICS) as (keyof typeof METRICS)[]).filter((name) => METRICS[name].isShared);

interface TargetState {
  target: string;
  backlogs: Backlog[];
  breaker: BreakerState;
}

/** Returns undefined when Redis fails meanwhile; the series of the target are then absent from this scrape. */
async function readTarget(sources: MetricSources, target: string): Promise<TargetState | undefined> {
  try {
    const [backlogs, breaker] = await Promise.all([sources.backlogs(target), sources.breaker(target)]);
    return { target, backlogs, breaker };
  } catch {
    return undefined;
  }
}

/** Sets the metrics of a target over its connections: counts are added; of ages and times the worst one is shown. */
function showTarget(metrics: Metrics, state: TargetState): void {
  const { target, backlogs, breaker } = state;
  const sum = (of: (backlog: Backlog) => number): number => total(backlogs.map(of));
  type SummedGauge = 'outboxDirty' | 'outboxPending' | 'deadLetters' | 'conflicts';
  const showSum = (gauge: SummedGauge, of: (backlog: Backlog) => number): void =>
    metrics[gauge].set({ target }, sum(of));
  showSum('outboxDirty', ({ dirty }) => dirty);
  showSum('outboxPending', ({ inflight }) => inflight);
  metrics.outboxOldest.set({ target }, Math.max(0, ...backlogs.map(({ oldestMs }) => oldestMs)) / 1000);
  showLoad(metrics, state);
  showSum('deadLetters', ({ blocked }) => blocked);
  showSum('conflicts', ({ lastRun }) => lastRun?.conflicts?.count ?? 0);
  metrics.onHold.set({ target }, backlogs.some(({ onHold }) => onHold) ? 1 : 0);
  metrics.breakerOpen.set({ target }, breaker.open ? 1 : 0);
  for (const kind of Object.keys(backlogs[0]?.held ?? {}) as (keyof Backlog['held'])[]) {
    metrics.guardHeld.set(
      { target, kind },
      sum(({ held }) => held[kind]),
    );
  }
  showExceptions(metrics, target, backlogs);
  showSuccessOfRuns(metrics, target, backlogs);
  showLastRuns(metrics, target, backlogs);
  for (const [kind, count] of backlogs.flatMap(({ writes }) => Object.entries(writes))) {
    metrics.reconcileWrites.inc({ target, kind }, count);
  }
}

function showLoad(metrics: Metrics, { target, backlogs, breaker }: TargetState): void {
  for (const backlog of backlogs) {
    if (!backlog.load) continue;
    metrics.loadDone.inc({ target }, backlog.load.done);
    metrics.loadTotal.inc({ target }, backlog.load.done + backlog.dirty);
    metrics.loadRate.inc({ target }, loadRate(backlog, breaker.resumedAt) ?? 0);
  }
}

function showExceptions(metrics: Metrics, target: string, backlogs: Backlog[]): void {
  for (const reason of EXCEPTION_REASONS) {
    metrics.exceptions.set({ target, reason }, total(backlogs.map(({ exceptions }) => exceptions[reason])));
    metrics.exceptionsOldest.set(
      { target, reason },
      Math.max(0, ...backlogs.map(({ exceptions }) => exceptions.ages[reason])) / 1000,
    );
  }
}

/** Sets the end of the last successful run, since when a first success is awaited, and the number of failed runs in a row. */
function showSuccessOfRuns(metrics: Metrics, target: string, backlogs: Backlog[]): void {
  // A connection that never had a success counts as 0, so that the successes of other connections do not hide it.
  const successes = backlogs.map(({ lastSuccessAt }) => lastSuccessAt ?? 0);
  metrics.reconcileLastSuccess.set({ target }, successes.length === 0 ? 0 : Math.min(...successes) / 1000);
  const awaited = backlogs.flatMap(({ lastSuccessAt, expected }) =>
    lastSuccessAt === undefined && expected !== null ? [expected.since] : [],
  );
  if (awaited.length > 0) metrics.reconcileAwaitedSince.set({ target }, Math.min(...awaited) / 1000);
  const failures = Math.max(0, ...backlogs.map(({ failedRuns }) => failedRuns));
  metrics.reconcileFailures.set({ target }, failures);
}

/** Sets what the last run of each connection reported: its duration, its coverage and the drift that it found. */
function showLastRuns(metrics: Metrics, target: string, backlogs: Backlog[]): void {
  const runs = backlogs.flatMap(({ lastRun }) => lastRun ?? []);
  if (runs.length > 0) {
    const longest = Math.max(...runs.map(({ startedAt, endedAt }) => endedAt - startedAt));
    metrics.reconcileSeconds.set({ target }, longest / 1000);
  }
  for (const { coverage } of runs) {
    for (const resource of ['users', 'groups'] as const) {
      for (const [state, count] of Object.entries(coverage?.[resource] ?? {}))
        // `seen` is null when the run did not read the whole list.
        if (count !== null) metrics.coverage.inc({ target, resource, state }, Number(count));
    }
  }
  for (const { action, cause, count } of runs.flatMap(({ drift }) => drift ?? [])) {
    metrics.drift.inc({ target, kind: action, attribution: cause }, count);
  }
}

/** Sets the metrics of connections, and those of the processes; a part that Redis does not answer is absent from this scrape. */
async function showConnectionsAndFleet(metrics: Metrics, sources: MetricSources): Promise<void> {
  for (const { connection, faults } of await sources.faults().catch(() => [])) {
    metrics.directoryFaults.set({ connection }, faults);
  }
  for (const { connection, log, broken } of await sources.logChecks().catch(() => [])) {
    metrics.logBroken.set({ connection, log }, broken === null ? 0 : 1);
  }
  for (const stream of await sources.events().catch(() => [])) showEvents(metrics, stream);
  const fleet = await sources.fleet().catch(() => undefined);
  if (fleet) showFleet(metrics, fleet);
}

function showEvents(
  metrics: Metrics,
  { connection, delivery }: { connection: string; delivery: EventDelivery },
): void {
  metrics.eventsPending.set({ connection }, delivery.pending);
  metrics.eventsOldest.set({ connection }, delivery.oldestMs / 1000);
  metrics.eventsKept.set({ connection }, delivery.kept);
  for (const outcome of ['delivered', 'refused', 'dropped'] as const)
    metrics.events.inc({ connection, outcome }, delivery[outcome]);
}

function showFleet(metrics: Metrics, { processes, findings }: FleetReport): void {
  // A process whose heartbeat is overdue (`silent`) adds 0, so that its series stays.
  for (const { role, version, silent } of processes) metrics.processes.inc({ role, version }, silent ? 0 : 1);
  for (const finding of FLEET_FINDINGS) {
    const count = findings.filter((each) => each.finding === finding).length;
    metrics.fleetFindings.set({ finding }, count);
  }
}
