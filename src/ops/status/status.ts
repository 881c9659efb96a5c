// Reads the backlog, coverage and health of every target.
import type { ExceptionCounts } from '../../directory/outbox/exceptions.ts';
import type { Backlog } from '../../directory/outbox/backlog.ts';
import { seenThen } from '../../reconcile/scan/coverage.ts';
import type { Breaker, BreakerState } from '../../directory/outbox/breaker.ts';
import { isForKey } from '../../directory/outbox/budget.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { LastProof } from '../../directory/proof/last-proof.ts';
import type { EventDelivery } from '../../directory/logs/event-stream.ts';
import { isRepaired } from '../../directory/outbox/mapped-by.ts';
import type { CoverageOfKinds, ExpectedRuns, RunReport } from '../../directory/outbox/runs.ts';
import type { Hold } from '../../directory/guard/operator-hold.ts';
import type { DestructiveKind } from '../../guard/judge.ts';
import { isoTime } from '../../support/sources.ts';
import { expiredText } from '../approvals/approval-ids.ts';
import { reconcileAgeText } from '../doctor/reconcile-age.ts';
import { redisRefusalOf, type FleetReport, type ReadFleet } from './fleet.ts';
import { judgeLoad, type LoadProgress } from './load-progress.ts';
import { readCoverage, type ReadCoverage } from './read-coverage.ts';

export interface TargetStatus {
  connection: string;
  target: string;
  /** Numbers of users and groups in the desired state. */
  users: number;
  groups: number;
  /** Coverage of the target; `seen` comes from the last run, and is null if the number of linked resources changed since. */
  coverage: CoverageOfKinds;
  /** Number of faults of derived data in the last proof; null before the first. */
  faults: number | null;
  /** The last proof of derived data; null before the first. */
  proof: LastProof | null;
  /** Numbers of marked resources, running syncs and dead letters. */
  dirty: number;
  inflight: number;
  blocked: number;
  /** Age of the oldest unapplied change in milliseconds; 0 when there is none. */
  oldestMs: number;
  /** Marks that wait for delivery, by priority. */
  priorities: Backlog['priorities'];
  /** Progress of a load, such as a first one; null while nothing loads. */
  load: LoadProgress | null;
  breaker: BreakerState;
  /** Held changes, by kind and in all. */
  guard: Record<DestructiveKind, number> & {
    /** Number of held changes, with the `expired` ones. */
    held: number;
    /** Number of changes whose approval has expired, and that the guard has not judged anew yet. */
    expired: number;
    /** Words for an operator about the `expired` changes, without a full stop; null: there are none. */
    approvalExpired: string | null;
    /** End of the newest approval, ISO 8601; null: there is none. */
    expiresAt: string | null;
    /** Milliseconds until `expiresAt` by the clock of Redis, 0 or less: it has passed; null: there is no approval. */
    leftMs: number | null;
  };
  hold: Hold | null;
  /** Resources that differ until a person acts; `scim-bridge exceptions` lists them. */
  exceptions: ExceptionCounts;
  /** Whether the platform's address changed, so that writes wait until the tenant is recognised there. */
  hasMoved: boolean;
  /** Mapped attributes of which people may have lost their values, because somebody deleted the definition at the platform. */
  lostAttributes: string[];
  /**
   * Whether, since the last complete run, rules (mapping, scope, group names, policy) changed, or the target was out of the
   * settings.
   */
  hasNewRules: boolean;
  reconcile: {
    last: RunReport | null;
    /** End of the last run that compared everything, Unix milliseconds; null before the first. */
    lastSuccessAt: number | null;
    /** Runs that the schedule of the service starts; null without one. */
    expected: ExpectedRuns | null;
    /** Words without a full stop when a complete run is overdue by the clock of Redis, or none was complete yet; null: neither. */
    overdue: string | null;
    /** Time of the next run of the schedule, Unix milliseconds; null: no schedule, or no scheduler runs. */
    next: number | null;
  };
  /** Security events of the connection; null: no receiver. */
  events: EventDelivery | null;
  /** Processes of the service and findings about them; the same in each row. */
  fleet: FleetReport;
}

/** Sources of facts that are not stored with the connections. */
export interface StatusSources {
  /** Circuit breakers by target. */
  breakers: Map<string, Pick<Breaker, 'read'>>;
  readFleet: ReadFleet;
  /** Time of the next scheduled reconcile, Unix milliseconds; null without a schedule. */
  nextReconcile: (now: number) => number | null;
  /** Digest of the mapping rules in the settings, by target. */
  digests: ReadonlyMap<string, string>;
  /** Mapped attributes whose values no list of the platform shows, by target. */
  unlisted: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Returns one row for each connection and target. */
export async function readStatus(
  states: readonly DesiredState[],
  sources: StatusSources,
  coverageOf: ReadCoverage = readCoverage,
): Promise<TargetStatus[]> {
  const rows: TargetStatus[] = [];
  const fleet = await sources.readFleet();
  for (const state of states) {
    const { connection, directory } = state;
    const [users, groups, events, proof] = await Promise.all([
      directory.count('User'),
      directory.count('Group'),
      directory.tellsEvents ? state.events.delivery() : null,
      state.proof.last(),
    ]);
    const faults = proof?.faults ?? null;
    for (const target of state.outboxes.keys()) {
      const ofTarget = await readTarget(state, target, sources, { fleet, coverageOf });
      rows.push({
        connection,
        target,
        users,
        groups,
        faults,
        proof: proof ?? null,
        ...ofTarget,
        events,
        fleet,
      });
    }
  }
  return rows;
}

/** The part of a row that differs between the targets of a connection. */
type TargetPart = Omit<
  TargetStatus,
  'connection' | 'target' | 'users' | 'groups' | 'faults' | 'proof' | 'events' | 'fleet'
>;

/** Reads what is stored about a target, and judges it by the settings, the breaker and the processes of the service. */
async function readTarget(
  state: DesiredState,
  target: string,
  { breakers, nextReconcile, digests, unlisted }: StatusSources,
  { fleet, coverageOf }: { fleet: FleetReport; coverageOf: ReadCoverage },
): Promise<TargetPart> {
  const breaker = (await breakers.get(target)?.read()) ?? { open: false };
  const mappedBy = await state.runs.get(target)?.mappedBy();
  const { backlog, reconcile, ...stored } = await readStored(state, target, coverageOf);
  const load = judgeLoad(backlog, {
    target,
    isRedisRefusing: redisRefusalOf(fleet.findings) !== undefined,
    isOnHold: stored.hold !== null,
    hasMoved: stored.hasMoved,
    isBreakerOpen: breaker.open,
    resumedAt: breaker.resumedAt,
    // A pause for a refused key has no known end: its `until` is only the next attempt.
    pausedUntil: isForKey(breaker.pause) ? undefined : breaker.pause?.until,
    processes: fleet.processes,
  });
  // Without a scheduler the run of the schedule does not start. `noProcess` stands in place of `noScheduler`.
  const hasScheduler = !fleet.findings.some(({ finding }) => /^no(Scheduler|Process)$/.test(finding));
  return {
    load,
    breaker,
    ...stored,
    // Redis keeps the loss also for attributes that left the mapping, or whose values lists show now, because they may come back.
    lostAttributes: stored.lostAttributes.filter((name) => unlisted.get(target)?.has(name)),
    // Before the first complete run (`undefined`), and since a repair of data in Redis (`REPAIRED` of mapped-by.ts), no run has
    // applied any mapping rules to all users, so none count as new.
    hasNewRules: mappedBy !== undefined && !isRepaired(mappedBy) && mappedBy !== digests.get(target),
    reconcile: { ...reconcile, next: hasScheduler ? nextReconcile(backlog.now) : null },
  };
}

/** Reads what Redis has of a target. */
async function readStored(
  { outboxes, coverage: readers }: DesiredState,
  target: string,
  coverageOf: ReadCoverage,
) {
  const outbox = outboxes.get(target);
  const reader = readers.get(target);
  if (!outbox || !reader) throw new Error(`There is no outbox of ${target}.`);
  const [backlog, hold, hasMoved, lostAttributes, { users, groups }] = await Promise.all([
    outbox.backlog(),
    outbox.guardStore.onHold(),
    outbox.hasMoved(),
    outbox.definitions.withLostValues(),
    coverageOf(reader),
  ]);
  const { dirty, inflight, blocked, oldestMs, priorities, exceptions } = backlog;
  const { lastRun, lastSuccessAt, expected, now } = backlog;
  // Not taken from the backlog, which still counts changes that were decided after its read, or that a decision has not moved yet.
  const held = await outbox.guardStore.countHeld();
  const approval = await outbox.guardStore.open();
  const guard = {
    held: held.total,
    ...held.kinds,
    expired: held.expired,
    approvalExpired: expiredText(held.expired, target, hold),
    expiresAt: approval ? isoTime(approval.expiresAt) : null,
    leftMs: approval?.leftMs ?? null,
  };
  return {
    backlog,
    coverage: {
      users: { ...users, seen: seenThen(users, lastRun?.coverage?.users) },
      groups: { ...groups, seen: seenThen(groups, lastRun?.coverage?.groups) },
    },
    dirty,
    inflight,
    blocked,
    oldestMs,
    priorities,
    guard,
    hold: hold ?? null,
    exceptions,
    hasMoved,
    lostAttributes,
    reconcile: {
      last: lastRun ?? null,
      lastSuccessAt: lastSuccessAt ?? null,
      expected,
      overdue: reconcileAgeText({ last: lastRun, lastSuccessAt, expected }, now) ?? null,
    },
  };
}

/**
 * Returns whether nothing waits, is missing or needs a person, no address and no rule is new, no value is lost, and the fleet has
 * no finding.
 */
export const isConverged = ({
  dirty,
  blocked,
  guard,
  exceptions,
  coverage,
  reconcile,
  ...row
}: TargetStatus): boolean =>
  dirty + blocked + guard.held + exceptions.total + (reconcile.last?.conflicts?.count ?? 0) === 0 &&
  row.hold === null &&
  !row.hasMoved &&
  row.lostAttributes.length === 0 &&
  !row.hasNewRules &&
  row.fleet.findings.length === 0 &&
  [coverage.users, coverage.groups].every((kind) => kind.missing + kind.held + kind.exceptions === 0);
