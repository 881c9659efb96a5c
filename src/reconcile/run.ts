// Runs a reconcile: acquires the lock, compares, asks the guard, marks, waits for the worker, and reports.
import { RunLost } from '../directory/outbox/drift.ts';
import type { Act, Actor } from '../directory/logs/acts.ts';
import type { ExceptionCounts } from '../directory/outbox/exceptions.ts';
import type { RunReport } from '../directory/outbox/runs.ts';
import { markPlan, type MarkedPlan } from './mark.ts';
import { applyPlan, conflictsLeft, proveDesired, whyUnproven, type ApplyPlanOptions } from './apply-plan.ts';
import { untilApplied, type End } from './until-applied.ts';
import { askAboutTenant, forgetTenant, noteRecognised, TENANT_ACCEPTED } from './change-tenant.ts';
import { counted } from '../support/counted.ts';
import { exceptionTotalText } from './exception-words.ts';
import { handOver } from './hand-over.ts';
import { keepRight, POLL_MS, RIGHT_MS, RunStopped, untilTaken } from './run-lock.ts';
import type { ReconcileScope, Progress } from './scope.ts';
import { makePlan, type PlanOptions } from './make-plan.ts';
import type { RunFindings } from './run-findings.ts';
import { isChange, isLeftBy, isNotice } from './entry.ts';
import { changesIn, countsOf, driftCounts, writesIn, type Plan } from './plan.ts';
import type { PlanReview } from './review-plan.ts';

export interface RunOptions extends PlanOptions, ApplyPlanOptions {
  signal: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** The operator accepts that the target is another tenant now. */
  acceptTenant?: boolean;
  /** Operator who ordered the run; undefined: the schedule. */
  orderedBy?: Actor | undefined;
  /** True: if another run is in progress, wait for it and return its report, unless it failed. False: wait, then run. */
  joins?: boolean;
  /** Called when the run waits for one that is in progress. */
  onWait?: () => void;
}

export interface RunResult {
  report: RunReport;
  /** Undefined when another run was joined. */
  plan?: Plan;
}

/** Largest number of passes after a repair; the next run handles the remaining resources. */
const MOST_PASSES = 4;

/**
 * Runs one reconcile. If another run is in progress, this one waits and then compares again, because the other run may have
 * read a resource before its latest change. With `joins` the report of the other run is returned instead.
 * @throws errors of the platform client and of Redis; RunLost when another run took the lock
 */
export async function reconcile(scope: ReconcileScope, options: RunOptions): Promise<RunResult> {
  await recordOrder(scope, 'reconcile', options, {});
  const { runs, clock } = scope;
  for (;;) {
    const fence = await runs.take(RIGHT_MS);
    if (fence !== undefined) return runLocked(scope, options, fence);
    const askedAt = clock.now();
    options.onWait?.();
    while (await runs.isRunning()) {
      options.signal.throwIfAborted();
      await clock.sleep(POLL_MS, options.signal);
    }
    if (!options.joins) continue;
    const { last } = await runs.read();
    // A report that only found differences does not count for a run that repairs them.
    const isRepair = last?.outcome !== 'drifted' || !options.repair;
    // A killed run leaves no report; then this run starts.
    if (last && last.endedAt >= askedAt && last.outcome !== 'failed' && isRepair) return { report: last };
  }
}

/**
 * Applies what is left of a saved plan (review-plan.ts). @param review.done number of changes that are already made
 * @throws RunLost when another run took the lock
 */
export async function applySaved(
  scope: ReconcileScope,
  { left: plan, done }: Pick<PlanReview, 'left' | 'done'>,
  options: Pick<RunOptions, 'guard' | 'signal' | 'logger' | 'onProgress' | 'orderedBy'>,
): Promise<RunReport> {
  await recordOrder(scope, 'apply', options, { subject: `plan:${plan.id}`, count: writesIn(plan) });
  const { clock } = scope;
  const fence = await untilTaken(scope, options.signal);
  const startedAt = clock.now();
  const right = keepRight(scope, fence, options.signal);
  try {
    const { refs, noted } = await markPlan(scope, plan, options.guard, fence);
    const isDone = noted.applied === 0 && (await scope.drifts.stillMarked(refs)).length === 0;
    const end = await untilApplied(scope, { ...options, signal: right.signal }, refs, plan);
    const { exceptions } = await scope.outbox.backlog();
    const result = await withHandover(
      scope,
      { ...options, signal: right.signal, id: plan.id },
      plan,
      end.outcome === 'converged' ? endOfApply(plan, noted, { done, isDone }) : end,
    );
    return { ...toReport(plan, startedAt, clock.now(), result), exceptions };
  } finally {
    await right.release();
  }
}

/**
 * Returns the end of a run that applied a saved plan. For an empty plan the end says that nothing was compared.
 * @param was.done number of changes that the review took out of the plan
 * @param was.isDone whether no change of the plan was left to write when the run began
 */
function endOfApply(
  plan: Plan,
  { stale, busy }: MarkedPlan['noted'],
  was: { done: number; isDone: boolean },
): End {
  const moved = stale + busy;
  if (moved > 0)
    return {
      outcome: 'failed',
      message: `resources skipped because they changed or were being synced: ${moved}; make a new plan`,
    };
  const count = was.done + changesIn(plan);
  if (was.isDone && count > 0) {
    // A 404 without a list proves no removal, so the sentence claims none.
    const changes = count === 1 ? 'the change' : `all ${count} changes`;
    const message = `nothing is left to do of ${changes} of the plan, by what the platform shows now`;
    return { outcome: 'converged', message };
  }
  return writesIn(plan) > 0
    ? { outcome: 'converged' }
    : {
        outcome: 'converged',
        message: 'the saved plan has no changes; differences since then are not known',
      };
}

/** Writes the audit entry of an order before the run begins, so that a crash does not lose it. */
async function recordOrder(
  { acts, target }: ReconcileScope,
  act: 'reconcile' | 'apply',
  { orderedBy }: Pick<RunOptions, 'orderedBy'>,
  details: Pick<Act, 'subject' | 'count'>,
): Promise<void> {
  if (orderedBy) await acts.record({ act, ...orderedBy, target: target.name, ...details });
}

/** Runs a reconcile under the lock, stores its report and releases the lock. */
async function runLocked(scope: ReconcileScope, options: RunOptions, fence: string): Promise<RunResult> {
  const { runs, clock } = scope;
  const startedAt = clock.now();
  const right = keepRight(scope, fence, options.signal);
  const { signal } = right;
  try {
    let again: RunOptions = { ...options, signal, remember: scope.drifts.notePrints };
    // Their workers apply the marks of this run by other rules, and this process may write by its own.
    if (!(await scope.rulesAgree())) await runs.noteAnew();
    let made = await makePlan(scope, again);
    if (options.acceptTenant && (await isTenantAccepted(scope, again, made))) {
      await forgetTenant(scope);
      const { plan, findings } = made;
      const mappedBy = await scope.runs.mappedBy();
      made = { plan, findings: { ...findings, tenantSuspicion: undefined, mappedBy } };
      again = { ...again, confirm: undefined };
    }
    const stopped = await recognise(scope, made);
    if (stopped) {
      const report = toReport(made.plan, startedAt, clock.now(), stopped);
      await runs.end(report);
      return { report, plan: made.plan };
    }
    let carried = await applyPlan(scope, again, fence, made.plan, made.findings);
    for (
      let pass = 1;
      pass < MOST_PASSES && !carried.isWhole && carried.end.outcome === 'converged';
      pass++
    ) {
      made = await makePlan(scope, again);
      carried = await applyPlan(scope, again, fence, made.plan, made.findings);
    }
    const { plan, findings } = made;
    const { coverage, end } = await proveDesired(scope, again, {
      startedAt,
      findings,
      plan,
      carried,
    });
    const { exceptions } = await scope.outbox.backlog();
    const conflicts = await conflictsLeft(scope, plan, carried.marked);
    const last = options.repair ? await withHandover(scope, again, plan, end) : end;
    const report = {
      ...toReport(
        plan,
        startedAt,
        clock.now(),
        exceptFor(noteOpen(last, findings), exceptions, leftText(scope, plan)),
      ),
      coverage,
      exceptions,
      ...(conflicts && { conflicts }),
    };
    await runs.end(report);
    return { report, plan };
  } catch (error) {
    // After an abort the platform client reports only that the call was aborted.
    const cause: unknown = signal.aborted ? signal.reason : error;
    const isFailure = !(cause instanceof RunLost || cause instanceof RunStopped);
    if (isFailure) await noteFailure(scope, options, startedAt, cause as Error);
    throw cause;
  } finally {
    await right.release();
  }
}

/** Asks the operator about another tenant while nothing is written there. @returns whether to forget the links to the former one */
async function isTenantAccepted(
  scope: ReconcileScope,
  options: RunOptions,
  { plan, findings: { tenantSuspicion } }: { plan: Plan; findings: RunFindings },
): Promise<boolean> {
  if (tenantSuspicion === undefined) return false;
  await askAboutTenant(scope, tenantSuspicion);
  if (!((await options.confirm?.(plan)) ?? true)) return false;
  await recordOrder(scope, 'reconcile', options, { subject: TENANT_ACCEPTED });
  return true;
}

/** Checks the tenant. @returns the outcome that ends the run without a write; undefined when the tenant is recognised */
async function recognise(
  scope: ReconcileScope,
  { plan, findings }: { plan: Plan; findings: RunFindings },
): Promise<End | undefined> {
  if (findings.tenantSuspicion !== undefined)
    return { outcome: 'held', message: await askAboutTenant(scope, findings.tenantSuspicion) };
  // Too few accounts could be read to say which tenant it is, so nothing is written.
  if (!findings.isRecognised) return { outcome: 'unproven', message: whyUnproven(plan) };
  await noteRecognised(scope);
  return undefined;
}

/** Outcomes after which items are handed over: each change of the plan was written, or waits for an operator. */
const HANDS_OVER = new Set<End['outcome']>(['converged', 'held', 'blocked']);

/** Moves the items of the plan's handover. @returns the outcome, with the number of moved items in its message */
async function withHandover(
  scope: ReconcileScope,
  { id, signal, logger }: Pick<RunOptions, 'id' | 'signal' | 'logger'>,
  { handover }: Plan,
  end: End,
): Promise<End> {
  // The plan has nothing to move, or after this outcome the accounts may not be in their end state.
  if (!handover || !HANDS_OVER.has(end.outcome)) return end;
  const said = await handOver(scope, handover, { signal, logger, request: `plan:${id}` });
  if (said === undefined) return end;
  return { ...end, message: withPart(end.message, said) };
}

/**
 * Adds to the message the number of resources that changed during every read, so they were not compared, and that processes
 * with other rules may have applied the changes.
 */
function noteOpen(end: End, { moved, rulesAgree }: RunFindings): End {
  if (end.outcome !== 'converged') return end;
  const parts = [
    ...(moved > 0
      ? [`${counted(moved, 'resource')} changed while compared: the next reconcile compares them`]
      : []),
    ...(rulesAgree ? [] : [OTHER_SETTINGS]),
  ];
  return parts.reduce((all, part) => ({ ...all, message: withPart(all.message, part) }), end);
}

const OTHER_SETTINGS =
  'processes of the service run with other settings and may have applied changes by them: reconcile again when all have the same';

const withPart = (message: string | undefined, part: string): string =>
  message === undefined ? part : `${message}; ${part}`;

/** Returns how many differences the policy of the target leaves, in words; '' when it leaves none. */
function leftText({ target: { policy } }: ReconcileScope, { entries }: Plan): string {
  const count = entries.filter((entry) => isLeftBy(policy, entry)).length;
  return count === 0 ? '' : `${counted(count, 'difference')} left alone by the policy ${policy.policy}`;
}

/** Adds the exceptions, and what the policy leaves, to the message of a run that converged. */
function exceptFor(end: End, exceptions: ExceptionCounts, left: string): End {
  const parts = [exceptions.total > 0 ? exceptionTotalText(exceptions) : '', left].filter(Boolean);
  if (end.outcome !== 'converged' || parts.length === 0) return end;
  const command = exceptions.total > 0 ? 'exceptions' : 'plan';
  return {
    ...end,
    message: withPart(end.message, `except ${parts.join(' and ')}; see scim-bridge ${command}`),
  };
}

/** Returns the report of a run that ended by itself. */
function toReport(plan: Plan, startedAt: number, endedAt: number, { outcome, message }: End): RunReport {
  return {
    run: `plan:${plan.id}`,
    startedAt,
    endedAt,
    outcome,
    // Rejected and held changes are left out, because no run writes them.
    counts: countsOf(plan.entries.filter((entry) => isChange(entry) || isNotice(entry))),
    drift: driftCounts(plan),
    users: plan.proof.users.seen,
    groups: plan.proof.groups.seen,
    ...(message === undefined ? {} : { message }),
  };
}

/** Stores the report of a failed run. */
async function noteFailure(
  { runs, clock }: ReconcileScope,
  { id }: RunOptions,
  startedAt: number,
  error: Error,
): Promise<void> {
  // A failed run has not counted the conflicts, so those of the last run are kept.
  const conflicts = await runs.read().then(
    ({ last }) => last?.conflicts,
    () => undefined,
  );
  const report: RunReport = {
    run: `plan:${id}`,
    startedAt,
    endedAt: clock.now(),
    outcome: 'failed',
    counts: {},
    users: 0,
    groups: 0,
    message: error.message,
    ...(conflicts && { conflicts }),
  };
  await runs.end(report).catch(() => undefined);
}
