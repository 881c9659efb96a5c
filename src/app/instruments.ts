// Defines which metrics the parts report. Parts receive plain callback functions from app.ts and do not depend
// on the metrics library. State that lives in Redis is read at the scrape.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { Backlog } from '../directory/outbox/backlog.ts';
import type { BreakerState } from '../directory/outbox/breaker.ts';
import type { StorePulse } from '../directory/redis/connection.ts';
import type { EventStanding } from '../directory/logs/event-stream.ts';
import type { Lane } from '../directory/records.ts';
import type { Answered, OnAnswered } from '../http/middleware/request-context.ts';
import { operationOf } from '../http/scim/router.ts';
import type { PlatformCall } from '../platform/client.ts';
import type { Clock } from '../support/sources.ts';
import { createMetrics, type Metrics } from '../support/metrics.ts';
import type { WriteOutcome } from '../sync/sync-resource.ts';
import type { TokenTimes } from '../tokens/doors.ts';

/** Functions that a scrape calls to read current values. */
export interface Sources {
  pulse: () => Promise<StorePulse>;
  /** One backlog for each connection that feeds the target. */
  backlogs: (target: string) => Promise<Backlog[]>;
  breaker: (target: string) => Promise<BreakerState>;
  /** Tokens of the connections; empty in a process without SCIM endpoints. */
  tokens: () => TokenTimes[];
  /** Security events of the connections that have a receiver. */
  events: () => Promise<{ connection: string; standing: EventStanding }[]>;
  /** Number of faults that the last proof of derived data found, by connection. */
  faults: () => Promise<{ connection: string; faults: number }[]>;
  /** Time of the worker's last fetch by target, Unix milliseconds; empty in a process without workers. */
  lastFetches: () => Map<string, number>;
}

export interface TargetHooks {
  onCall: (call: PlatformCall) => void;
  onWait: (waitMs: number) => void;
  onApplied: (lagMs: number, lane: Lane) => void;
  onWrite: (operation: string, outcome: WriteOutcome) => void;
}

export interface Instruments {
  /** Returns the observer of the requests below a mount path. */
  requests: (root: string) => OnAnswered;
  onDeviation: (connection: string, kind: string) => void;
  target: (name: string) => TargetHooks;
  contentType: string;
  /** Reads the sources and returns the metrics in Prometheus text format. */
  scrape: (sources: Sources) => Promise<string>;
}

/** Entra ID evaluates failures over hours; below `atLeast` requests the share is 0. */
const RISK = { windowMs: 3_600_000, atLeast: 20 };
/** Scrapes within this time share one read of Redis, milliseconds. */
const FRESH_MS = 1000;

export function createInstruments(
  { clock }: { clock: Clock },
  { config, role }: { config: Config; role: string },
): Instruments {
  const metrics = createMetrics();
  const risks = new Map<string, FailureShare>();
  const version = packageVersion();
  metrics.buildInfo.labels(version, process.versions.node, role).set(1);
  const riskOf = (connection: string): FailureShare => {
    const risk = risks.get(connection) ?? createFailureShare({ clock }, RISK);
    risks.set(connection, risk);
    return risk;
  };
  const pending: Pending[] = [];
  let look: Promise<void> | undefined;
  let lookedAt = -Infinity;

  return {
    requests: (root) => {
      const connection = connectionAt(root);
      return countRequests(metrics, { root, connection, risk: riskOf(connection), pending });
    },
    onDeviation: (connection, kind) => metrics.deviations.inc({ connection, kind }),
    target: (name) => watchTarget(metrics, name),
    contentType: metrics.contentType,
    scrape: async (sources) => {
      for (const [connection, risk] of risks) metrics.quarantineRisk.set({ connection }, risk.share());
      for (const each of pending) {
        metrics.httpRequests.inc(each.labels, each.since);
        each.since = 0;
      }
      showTokens(metrics, sources.tokens());
      if (!look || clock.now() - lookedAt >= FRESH_MS) {
        lookedAt = clock.now();
        look = readShared(metrics, Object.keys(config.targets), sources);
      }
      await look;
      return metrics.text();
    },
  };
}

/** Replaces the series of all tokens: tokens are created and deleted at run time. */
function showTokens(metrics: Metrics, tokens: TokenTimes[]): void {
  metrics.tokenExpiry.reset();
  metrics.tokenLastUsed.reset();
  for (const { connection, token, expiresAt, lastUsedAt } of tokens) {
    metrics.tokenExpiry.set({ connection, token }, Number.isFinite(expiresAt) ? expiresAt / 1000 : 0);
    metrics.tokenLastUsed.set({ connection, token }, lastUsedAt / 1000);
  }
}

/** The path is valid in `src/` and in `dist/`. */
function packageVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * Returns the connection name of a mount path: `/scim/v2` is `default`, `/connections/<name>/scim/v2` is
 * `<name>`.
 */
const connectionAt = (root: string): string =>
  root === '' ? 'none' : root.startsWith('/connections/') ? (root.split('/')[2] ?? 'none') : 'default';

/** Applies Entra ID's rule: a 404 for a missing user is an expected answer, not a failure. */
const isFailure = (operation: string, status: number): boolean =>
  status >= 400 && !(status === 404 && (operation === 'get' || operation === 'delete'));

interface Requests {
  root: string;
  connection: string;
  risk: FailureShare;
}

/** Answers that were counted since the last scrape. */
interface Pending {
  since: number;
  labels: { connection: string; operation: string; status: string };
}

function countRequests(
  metrics: Metrics,
  { root, connection, risk, pending }: Requests & { pending: Pending[] },
): OnAnswered {
  const seconds = metrics.httpTimer(connection);
  // Requests arrive thousands of times a second, so each one increments a plain number; the scrape adds it to
  // the metric.
  const counts = memo((operation, status) => {
    const count = { since: 0, labels: { connection, operation, status } };
    pending.push(count);
    return count;
  });
  return ({ method, url, status, startedAt, endedAt }: Answered) => {
    const operation = root === '' ? 'other' : operationOf(method, url.slice(root.length));
    counts(operation, String(status)).since++;
    seconds((endedAt - startedAt) / 1000);
    risk.note(isFailure(operation, status));
  };
}

function watchTarget(metrics: Metrics, target: string): TargetHooks {
  const seconds = metrics.platformSeconds.labels(target);
  const waits = metrics.rateWait.labels(target);
  return {
    onCall: ({ route, method, status, durationMs, error }) => {
      if (error === 'PlatformAborted') return;
      metrics.platformRequests.inc({ target, resource: resourceOf(route), method, status: String(status) });
      seconds.observe(durationMs / 1000);
    },
    onWait: (waitMs) => waits.observe(waitMs / 1000),
    onApplied: (lagMs, lane) => metrics.syncLag.observe({ target, lane }, Math.max(0, lagMs) / 1000),
    onWrite: (operation, outcome) => {
      const resource = operation.includes('group') || operation.includes('members') ? 'group' : 'user';
      metrics.syncOperations.inc({ target, resource, operation, outcome });
    },
  };
}

const NAMES: Record<string, string> = {
  users: 'accounts',
  'user-attributes': 'attributes',
  'user-attribute-values': 'values',
};

/**
 * Returns the resource of a route template: `/api/scim/v2/Users/{id}` gives `users`. Route templates are few,
 * so the label has few values.
 */
function resourceOf(route: string): string {
  const [, , family, name = 'other', resource = 'other'] = route.split('/');
  if (family === 'scim') return resource.toLowerCase();
  return NAMES[name] ?? name;
}

/** Caches the result of `make` for each pair of arguments. */
function memo<T>(make: (first: string, second: string) => T): (first: string, second: string) => T {
  const made = new Map<string, T>();
  return (first, second) => {
    const key = `${first} ${second}`;
    let found = made.get(key);
    if (found === undefined) made.set(key, (found = make(first, second)));
    return found;
  };
}

/**
 * Reads the shared state from Redis into the metrics. While Redis is unreachable its series are removed instead
 * of keeping old values.
 */
async function readShared(metrics: Metrics, targets: string[], sources: Sources): Promise<void> {
  const pulse = await sources.pulse();
  metrics.redisUp.set(pulse.up ? 1 : 0);
  metrics.redisRole.reset();
  for (const role of new Set(['master', 'slave', ...(pulse.role ? [pulse.role] : [])])) {
    metrics.redisRole.set({ role }, role === pulse.role ? 1 : 0);
  }
  if (pulse.up) metrics.redisLatency.set(pulse.latencyMs / 1000);
  else metrics.redisLatency.remove();
  const found = await Promise.all(
    targets.map(async (target) => {
      if (!pulse.up) return [];
      try {
        const [backlogs, breaker] = await Promise.all([sources.backlogs(target), sources.breaker(target)]);
        return [{ target, backlogs, breaker }];
      } catch {
        return [];
      }
    }),
  );
  for (const gauge of SHARED) metrics[gauge].reset();
  for (const each of found.flat()) show(metrics, each);
  for (const { connection, faults } of pulse.up ? await sources.faults().catch(() => []) : [])
    metrics.directoryFaults.set({ connection }, faults);
  for (const each of pulse.up ? await sources.events().catch(() => []) : []) showEvents(metrics, each);
  for (const [target, at] of sources.lastFetches()) metrics.workerLastFetch.set({ target }, at / 1000);
}

const SHARED = [
  'coverage',
  'directoryFaults',
  ...(['outboxDirty', 'outboxPending', 'outboxOldest', 'deadLetters', 'onHold', 'guardHeld'] as const),
  ...(['breakerOpen', 'drift', 'reconcileLastSuccess', 'reconcileSeconds', 'reconcileWrites'] as const),
  ...(['eventsPending', 'eventsOldest', 'eventsKept', 'events'] as const),
] as const;

function showEvents(
  metrics: Metrics,
  { connection, standing }: { connection: string; standing: EventStanding },
): void {
  metrics.eventsPending.set({ connection }, standing.pending);
  metrics.eventsOldest.set({ connection }, standing.oldestMs / 1000);
  metrics.eventsKept.set({ connection }, standing.kept);
  for (const outcome of ['delivered', 'refused', 'dropped'] as const)
    metrics.events.inc({ connection, outcome }, standing[outcome]);
}

/** Shows the backlogs of a target as one: counts are added, ages and times take the worse value. */
function show(
  metrics: Metrics,
  { target, backlogs, breaker }: { target: string; backlogs: Backlog[]; breaker: BreakerState },
): void {
  const sum = (of: (backlog: Backlog) => number): number =>
    backlogs.reduce((total, each) => total + of(each), 0);
  metrics.outboxDirty.set(
    { target },
    sum(({ dirty }) => dirty),
  );
  metrics.outboxPending.set(
    { target },
    sum(({ inflight }) => inflight),
  );
  metrics.outboxOldest.set({ target }, Math.max(0, ...backlogs.map(({ oldestMs }) => oldestMs)) / 1000);
  metrics.deadLetters.set(
    { target },
    sum(({ blocked }) => blocked),
  );
  metrics.onHold.set({ target }, backlogs.some(({ onHold }) => onHold) ? 1 : 0);
  metrics.breakerOpen.set({ target }, breaker.open ? 1 : 0);
  for (const kind of Object.keys(backlogs[0]?.held ?? {}) as (keyof Backlog['held'])[]) {
    metrics.guardHeld.set(
      { target, kind },
      sum(({ held }) => held[kind]),
    );
  }
  const successes = backlogs.flatMap(({ lastSuccessAt }) => lastSuccessAt ?? []);
  metrics.reconcileLastSuccess.set({ target }, successes.length === 0 ? 0 : Math.min(...successes) / 1000);
  const runs = backlogs.flatMap(({ lastRun }) => lastRun ?? []);
  if (runs.length > 0) {
    const longest = Math.max(...runs.map(({ startedAt, endedAt }) => endedAt - startedAt));
    metrics.reconcileSeconds.set({ target }, longest / 1000);
  }
  for (const { coverage } of runs) {
    for (const resource of ['users', 'groups'] as const) {
      for (const [state, count] of Object.entries(coverage?.[resource] ?? {}))
        metrics.coverage.inc({ target, resource, state }, Number(count));
    }
  }
  for (const { action, cause, count } of runs.flatMap(({ drift }) => drift ?? [])) {
    metrics.drift.inc({ target, kind: action, attribution: cause }, count);
  }
  for (const [kind, count] of backlogs.flatMap(({ writes }) => Object.entries(writes))) {
    metrics.reconcileWrites.inc({ target, kind }, count);
  }
}

export interface FailureShare {
  note: (failed: boolean) => void;
  /** Returns a number from 0 to 1 for the last window; 0 below `atLeast` events. */
  share: () => number;
}

const PARTS = 60;

/**
 * Creates a window of sixty slots. With fewer than `atLeast` events the share is 0: one failure out of one
 * event is not a trend.
 */
export function createFailureShare(
  { clock }: { clock: Clock },
  { windowMs, atLeast }: { windowMs: number; atLeast: number },
): FailureShare {
  const totals = new Array<number>(PARTS).fill(0);
  const failures = new Array<number>(PARTS).fill(0);
  const now = (): number => Math.floor((clock.now() * PARTS) / windowMs);
  let latest = now();

  /** Clears the slots that are older than the window. @returns the current slot */
  function move(): number {
    const part = Math.max(now(), latest);
    for (let old = Math.max(latest + 1, part - PARTS + 1); old <= part; old++) {
      totals[old % PARTS] = 0;
      failures[old % PARTS] = 0;
    }
    latest = part;
    return part % PARTS;
  }
  const sum = (parts: number[]): number => parts.reduce((all, each) => all + each, 0);

  return {
    note: (failed) => {
      const part = move();
      totals[part] = (totals[part] ?? 0) + 1;
      if (failed) failures[part] = (failures[part] ?? 0) + 1;
    },
    share: () => {
      move();
      return sum(failures) / Math.max(sum(totals), atLeast);
    },
  };
}
