// Records the metrics of this process. The parts of the service do not import the metrics library: they get callback functions
// from here (`requests`, `target`, `onDeviation`, `onNotice`), which count what the parts report. `scrape` adds the state that all
// processes share (shared-metrics.ts), and returns everything for Prometheus. The history of the operators' page reads `tallies`:
// the numbers of pushes and of platform calls. `createFailureShare` measures the share of failed calls within a sliding window.
import type { Config } from '../config/schema.ts';
import { PRIORITIES, type Priority } from '../directory/records.ts';
import {
  type Answered,
  type OnAnswered,
  operationOf,
  type ScimOperation,
} from '../http/middleware/request-context.ts';
import type { PlatformCall } from '../platform/client.ts';
import type { Clock } from '../support/sources.ts';
import { createMetrics, type Metrics } from '../support/metrics.ts';
import { packageVersion } from '../support/version.ts';
import type { WriteOutcome } from '../sync/create-context.ts';
import type { TokenTimes } from '../tokens/credentials.ts';
import { type MetricSources, readShared } from './shared-metrics.ts';
import { total } from '../support/counted.ts';

/** Callbacks by which the parts of a target report to the metrics. */
interface TargetHooks {
  onCall: (call: PlatformCall) => void;
  /** Called with the time that a call waited for the rate limit. */
  onWait: (waitMs: number) => void;
  /** Called with the time between the acceptance of a change and its write. */
  onApplied: (lagMs: number, priority: Priority) => void;
  /** Called after each write. `operation`: words such as `activate user` or `add members`. */
  onWrite: (operation: string, outcome: WriteOutcome) => void;
}

interface PushTally {
  /** Write requests that succeeded. */
  pushes: number;
  /** Requests of any kind that failed (`isFailure`). */
  pushesRefused: number;
}
interface CallTally {
  calls: number;
  /** Calls that the platform refused (4xx without 429). */
  callsRefused: number;
  /** Calls without a useful answer (none, 429, 5xx). */
  callsFailed: number;
}

/** Counts since the start of the process, for the history of the operators' page: pushes by connection, calls by target. */
export interface Tallies {
  pushes: Map<string, PushTally>;
  calls: Map<string, CallTally>;
}

/**
 * Window of the metric `quarantineRisk`: Entra ID judges failures over hours. Fewer than `atLeast` requests count as
 * `atLeast`, so that one failure of two requests is not a share of 0.5.
 */
const RISK = { windowMs: 3_600_000, atLeast: 20 };
/** Scrapes within this time share one read of Redis, milliseconds. */
const FRESH_MS = 1000;

export type Instruments = ReturnType<typeof createInstruments>;

export function createInstruments(
  { clock }: { clock: Clock },
  { config, role }: { config: Config; role: string },
) {
  const metrics = createMetrics();
  const tallies: Tallies = { pushes: new Map(), calls: new Map() };
  /** Share of failed requests by connection, for `quarantineRisk`; `none`: requests to no connection. */
  const risks = new Map<string, FailureShare>();
  const version = packageVersion();
  metrics.buildInfo.labels(version, process.versions.node, role).set(1);
  const riskOf = (connection: string): FailureShare => {
    const risk = risks.get(connection) ?? createFailureShare({ clock }, RISK);
    risks.set(connection, risk);
    return risk;
  };
  /** The last read of the shared metrics, when it began, and whether it has not ended yet. */
  let reading: Promise<void> | undefined;
  let readAt = -Infinity;
  let isReading = false;

  return {
    /** Returns the observer of the requests below a mount path; the path is empty for requests to no address of the bridge. */
    requests: (root: string): OnAnswered => {
      if (root === '') return countOthers(metrics, () => riskOf('none'));
      const connection = connectionAt(root);
      return countRequests(metrics, { root, connection, risk: riskOf(connection), tallies });
    },
    onDeviation: (connection: string, kind: string): void => metrics.deviations.inc({ connection, kind }),
    onNotice: (channel: string, result: string): void => metrics.notices.inc({ channel, result }),
    target: (name: string): TargetHooks => watchTarget(metrics, name, tallies),
    /**
     * Begins the lag series of each priority of a target, without an observation. Prometheus computes rates from increases, so a
     * series that began with its first observation would hide that observation from the alerts about lag.
     */
    startLag: (target: string): void => {
      for (const priority of PRIORITIES) metrics.syncLag.zero({ target, priority });
    },
    tallies,
    contentType: metrics.contentType,
    /** Reads the sources and returns the metrics in Prometheus text format. */
    scrape: async (sources: MetricSources): Promise<string> => {
      for (const [connection, risk] of risks) metrics.quarantineRisk.set({ connection }, risk.share());
      // Two reads at a time would add their numbers to the same metrics.
      if (!isReading && clock.now() - readAt >= FRESH_MS) {
        readAt = clock.now();
        isReading = true;
        reading = readShared(metrics, Object.keys(config.targets), sources).finally(
          () => (isReading = false),
        );
      }
      await reading;
      // The tokens are shown after `readShared`, which removes their series with all shared metrics.
      showTokens(metrics, sources.tokens());
      return metrics.text();
    },
  };
}

/** Replaces the series of all tokens: tokens are created and deleted at run time. */
function showTokens(metrics: Metrics, tokens: TokenTimes[]): void {
  metrics.tokenExpiry.reset();
  metrics.tokenLastUsed.reset();
  for (const { connection, token, expiresAt, lastUsedAt } of tokens) {
    // Infinity means that the token never expires; the metric shows 0.
    metrics.tokenExpiry.set({ connection, token }, Number.isFinite(expiresAt) ? expiresAt / 1000 : 0);
    metrics.tokenLastUsed.set({ connection, token }, lastUsedAt / 1000);
  }
}

/** Returns the connection name of a mount path: `default` for `/scim/v2`, `<name>` for `/connections/<name>/scim/v2`. */
function connectionAt(root: string): string {
  const [_empty, first, name = ''] = root.split('/');
  return first === 'connections' ? name : 'default';
}

/**
 * Returns whether an answer counts as a failure of its request. A 404 to GET or DELETE is expected: identity providers look for
 * resources that may be gone, and Entra may delete a resource twice (docs/idp/entra.md).
 */
const isFailure = (operation: string, status: number): boolean =>
  status >= 400 && !(status === 404 && (operation === 'get' || operation === 'delete'));

/** URL of a request for a SCIM endpoint: it has `/scim/v2` or, below a wrong base URL, the name of an endpoint (RFC 7644). */
const SCIM_ADDRESS =
  /^[^?]*\/(?:[sS][cC][iI][mM]\/[vV]2|Users|Groups|Bulk|Schemas|ResourceTypes|ServiceProviderConfig)(?:[/?]|$)/;

/**
 * Returns the counter of requests to no connection. Requests of operators, receivers and scanners are only counted. A request
 * to a wrong SCIM address comes from an identity provider with a wrong base URL, so its failures are part of the risk too.
 */
const countOthers =
  (metrics: Metrics, risk: () => FailureShare): OnAnswered =>
  ({ status, url }) => {
    metrics.httpRequests.inc({ connection: 'none', operation: 'other', status });
    if (SCIM_ADDRESS.test(url)) risk().note(status >= 400);
  };

function countRequests(
  metrics: Metrics,
  {
    root,
    connection,
    risk,
    tallies,
  }: { root: string; connection: string; risk: FailureShare; tallies: Tallies },
): OnAnswered {
  const tally = tallyPushes(tallies, connection);
  // The series exists before the first request.
  metrics.httpSeconds.zero({ connection });
  const seconds = metrics.httpSeconds.labels(connection);
  return ({ method, url, status, startedAt, endedAt }: Answered) => {
    const operation = operationOf(method, url.slice(root.length));
    metrics.httpRequests.inc({ connection, operation, status });
    seconds.observe((endedAt - startedAt) / 1000);
    const failed = isFailure(operation, status);
    risk.note(failed);
    tally(operation, failed);
  };
}

const PUSHES: ReadonlySet<ScimOperation> = new Set(['create', 'replace', 'patch', 'delete', 'bulk']);

function tallyPushes(
  { pushes }: Tallies,
  connection: string,
): (operation: ScimOperation, failed: boolean) => void {
  const tally = pushes.get(connection) ?? { pushes: 0, pushesRefused: 0 };
  pushes.set(connection, tally);
  return (operation, failed) => {
    if (failed) tally.pushesRefused++;
    else if (PUSHES.has(operation)) tally.pushes++;
  };
}

/** Returns the counter of the calls to a target. @returns a function of the HTTP status; 0: no complete answer */
function tallyCalls({ calls }: Tallies, target: string): (status: number) => void {
  const tally = calls.get(target) ?? { calls: 0, callsRefused: 0, callsFailed: 0 };
  calls.set(target, tally);
  return (status) => {
    tally.calls++;
    if (status === 0 || status === 429 || status >= 500) tally.callsFailed++;
    else if (status >= 400) tally.callsRefused++;
  };
}

function watchTarget(metrics: Metrics, target: string, tallies: Tallies): TargetHooks {
  const tally = tallyCalls(tallies, target);
  const seconds = metrics.platformSeconds.labels(target);
  const waits = metrics.rateWait.labels(target);
  return {
    onCall: ({ route, method, status, durationMs, error }) => {
      // A call that this process aborted tells nothing about the platform.
      if (error === 'PlatformAborted') return;
      metrics.platformRequests.inc({ target, resource: resourceOf(route), method, status: String(status) });
      seconds.observe(durationMs / 1000);
      tally(status);
    },
    onWait: (waitMs) => waits.observe(waitMs / 1000),
    onApplied: (lagMs, priority) => metrics.syncLag.observe({ target, priority }, Math.max(0, lagMs) / 1000),
    onWrite: (operation, outcome) => {
      const resource = operation.includes('group') || operation.includes('members') ? 'group' : 'user';
      metrics.syncOperations.inc({ target, resource, operation, outcome });
    },
  };
}

/** Values of the label `resource`, by the path segment of a route. */
const RESOURCE_NAMES: Record<string, string> = {
  users: 'accounts',
  'user-attributes': 'attributes',
  'user-attribute-values': 'values',
};

/**
 * Returns the resource of a route template: `/api/scim/v2/Users/{id}` gives `users`, `/api/v1/users` gives `accounts`. Route
 * templates are few, so the label has few values.
 */
function resourceOf(route: string): string {
  const [_empty, _api, family, name = 'other', resource = 'other'] = route.split('/');
  if (family === 'scim') return resource.toLowerCase();
  return RESOURCE_NAMES[name] ?? name;
}

/** Number of slots: parts of the window, of equal length. The oldest slot is dropped when a new one begins. */
const SLOTS = 60;

export type FailureShare = ReturnType<typeof createFailureShare>;

/**
 * Creates a counter of events and failures in a sliding window.
 * @param options.atLeast a smaller number of events counts as this number
 */
export function createFailureShare(
  { clock }: { clock: Clock },
  { windowMs, atLeast }: { windowMs: number; atLeast: number },
) {
  const totals = new Array<number>(SLOTS).fill(0);
  const failures = new Array<number>(SLOTS).fill(0);
  /** Returns the number of the present slot, counted since 1970; its counts are at this number modulo SLOTS. */
  const presentSlot = (): number => Math.floor((clock.now() * SLOTS) / windowMs);
  let latest = presentSlot();

  /** Clears the slots that are older than the window. @returns the index of the present slot */
  function advance(): number {
    const slot = Math.max(presentSlot(), latest);
    for (let old = Math.max(latest + 1, slot - SLOTS + 1); old <= slot; old++) {
      totals[old % SLOTS] = 0;
      failures[old % SLOTS] = 0;
    }
    latest = slot;
    return slot % SLOTS;
  }

  return {
    note: (failed: boolean): void => {
      const index = advance();
      totals[index] = (totals[index] ?? 0) + 1;
      if (failed) failures[index] = (failures[index] ?? 0) + 1;
    },
    /**
     * Returns the share of failures in the last window, from 0 to 1. Fewer than `atLeast` events count as `atLeast`, so that
     * one failure of two events is not a share of 0.5.
     */
    share: (): number => {
      advance();
      return total(failures) / Math.max(total(totals), atLeast);
    },
  };
}
