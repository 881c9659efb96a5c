// Runs a reconcile: acquires the lock, compares (make-plan.ts), checks that the platform is the known tenant, applies the plan in
// one or more passes (apply-plan.ts), and stores a report. Without the lock it waits for the run that has it.
import { RunLost } from '../../directory/outbox/drift.ts';
import type { Act, Actor } from '../../directory/logs/acts.ts';
import { comparesAll, type RunReport } from '../../directory/outbox/runs.ts';
import { isStoreFailure, pastStoreFailureText } from '../../directory/redis/why-away.ts';
import { isoTime } from '../../support/sources.ts';
import { applyPlan, restoreLostAtEnd, type ApplyPlanOptions, type CarriedOut } from './apply-plan.ts';
import { conflictsLeft, whyUnproven } from './end-of-run.ts';
import { convergedBesideWaiting, type End } from './ends.ts';
import { askAboutTenant, forgetTenant, noteRecognised, TENANT_ACCEPTED } from '../tenant/change-tenant.ts';
import { withHandover } from './handover-after-run.ts';
import { keepingLock, POLL_MS, LOCK_MS, RunStopped } from './run-lock.ts';
import type { ReconcileScope, Progress } from '../scope.ts';
import type { PlanOptions } from '../plan/compare-all.ts';
import { makePlan, type Compared } from '../plan/make-plan.ts';
import { acceptedMeanwhileText, anotherTenantText } from '../tenant/tenant.ts';
import { toReport, withExceptions, withLoss, withOpen } from './make-report.ts';
import type { Plan } from '../plan.ts';
import { failedReport } from '../target-silent.ts';

export interface RunOptions extends PlanOptions, ApplyPlanOptions {
  signal: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** The operator accepts that the target is another tenant now. */
  acceptTenant?: boolean;
  /** Operator who ordered the run; undefined: the schedule. */
  orderedBy?: Actor | undefined;
  /**
   * True: waits for a run in progress and returns its report; runs itself if the other run failed, was killed, or only reported
   * what this run repairs. False: waits, then runs.
   */
  joins?: boolean;
  /** Called when the run waits for one that is in progress. */
  onWait?: () => void;
}

interface RunResult {
  report: RunReport;
  /** Undefined when another run was joined. */
  plan?: Plan;
}

/**
 * Largest number of passes of a run, the first included. A pass leaves out resources that changed, or were being synced, when it
 * marked them, and after a repair of derived data those that changed while they were read (`isWhole` in apply-plan.ts). Changes
 * that remain after the last pass are left to the next run.
 */
const MOST_PASSES = 4;

/**
 * Writes the audit entry of an order; the schedule (`orderedBy` undefined) gets none. Called before the run begins, so that a crash
 * does not lose the entry.
 */
export async function recordOrder(
  { acts, target }: ReconcileScope,
  act: 'reconcile' | 'apply',
  { orderedBy }: Pick<RunOptions, 'orderedBy'>,
  details: Pick<Act, 'subject' | 'count'>,
): Promise<void> {
  if (orderedBy) await acts.record({ act, ...orderedBy, target: target.name, ...details });
}

/**
 * Runs one reconcile. If another run is in progress, this one waits and then compares again, because the other run may have read a
 * resource before its latest change. With `joins` the report of the other run is returned instead.
 * @throws errors of the platform client and of Redis; RunLost when another run took the lock; the reason of an abort
 */
export async function reconcile(scope: ReconcileScope, options: RunOptions): Promise<RunResult> {
  await recordOrder(scope, 'reconcile', options, {});
  const { runs, clock } = scope;
  for (;;) {
    const fence = await runs.take(LOCK_MS);
    if (fence !== undefined)
      return keepingLock(scope, fence, options.signal, (signal) =>
        runLocked(scope, { ...options, signal }, fence),
      );
    const askedAt = await runs.now();
    options.onWait?.();
    while (await runs.isRunning()) {
      options.signal.throwIfAborted();
      await clock.sleep(POLL_MS, options.signal);
    }
    if (!options.joins) continue;
    const { last } = await runs.read();
    // A report that only found differences does not count for a run that repairs them.
    const suffices = last?.outcome !== 'drifted' || !options.repair;
    // A killed run leaves no report; then this run starts.
    if (last && last.endedAt >= askedAt && last.outcome !== 'failed' && suffices) return { report: last };
  }
}

/** Runs a reconcile under the lock, and stores its report. */
async function runLocked(scope: ReconcileScope, options: RunOptions, fence: string): Promise<RunResult> {
  const { runs, clock } = scope;
  const startedAt = await runs.now();
  // By the clock of this process, because it is compared with the times of writes in links, which come from processes.
  const begunAt = clock.now();
  const { signal } = options;
  try {
    let pass: RunOptions = { ...options, remember: scope.drifts.notePrints };
    // Processes with other rules may sync the marks of this run by their own rules, so the next run maps everything again.
    if (!(await scope.rulesAgree())) await runs.noteAnew();
    if (options.syncsItself) pass = { ...pass, pending: await scope.outbox.marked() };
    let compared = await makePlan(scope, pass);
    if (options.acceptTenant && (await isTenantAccepted(scope, pass, compared))) {
      compared = await withNewTenant(scope, compared);
      // The operator has accepted the tenant with this plan (`isTenantAccepted`), so there is no second question.
      pass = { ...pass, confirm: undefined };
    }
    const applied = await applyInPasses(scope, pass, fence, compared);
    if (applied.kind === 'applied') return await finishRun(scope, pass, applied, { startedAt, begunAt });
    const { plan } = applied.compared;
    const report = toReport(plan, startedAt, await runs.now(), applied.end);
    await runs.end(report);
    return { report, plan };
  } catch (error) {
    // After an abort the platform client reports only that the call was aborted.
    const cause: unknown = signal.aborted ? signal.reason : error;
    // No report: another run has taken over, or the next start of the service repeats this one.
    const isFailure = !(cause instanceof RunLost || cause instanceof RunStopped);
    if (isFailure) await noteFailure(scope, options, startedAt, cause);
    throw cause;
  }
}

/** If the target seems to be another tenant, holds all writes and asks the operator. @returns whether the operator accepts it */
async function isTenantAccepted(
  scope: ReconcileScope,
  options: RunOptions,
  { plan, findings: { tenantSuspicion } }: Compared,
): Promise<boolean> {
  if (tenantSuspicion === undefined) return false;
  await askAboutTenant(scope, tenantSuspicion);
  const isAccepted = (await options.confirm?.(plan)) ?? true;
  // The question may outlast the lock: another run may have accepted the tenant and linked all resources anew.
  options.signal.throwIfAborted();
  if (!isAccepted) return false;
  await recordOrder(scope, 'reconcile', options, { subject: TENANT_ACCEPTED });
  return true;
}

/** Forgets the links to the former tenant. @returns the comparison, as one with the tenant that the operator has accepted */
async function withNewTenant(scope: ReconcileScope, { plan, findings }: Compared): Promise<Compared> {
  await forgetTenant(scope);
  // `forgetTenant` has changed the stored `mappedBy`, so that a later run maps all users. This plan has mapped them already. So
  // `noteMapped` at the end of this run may replace the stored value, which it does only if that is still the value read here.
  const mappedBy = await scope.runs.mappedBy();
  return { plan, findings: { ...findings, tenantSuspicion: undefined, hasMoved: true, mappedBy } };
}

/** The last comparison of a run: its plan was applied, or the tenant was not recognised (`stopped`), so nothing more is written. */
type AppliedPasses = { compared: Compared } & (
  { kind: 'applied'; carried: CarriedOut } | { kind: 'stopped'; end: End }
);

/** Applies a plan. While resources were left out, makes and applies another one, up to MOST_PASSES times in all. */
async function applyInPasses(
  scope: ReconcileScope,
  options: RunOptions,
  fence: string,
  first: Compared,
): Promise<AppliedPasses> {
  let compared = first;
  for (let passes = 1; ; passes++) {
    const end = await recognise(scope, compared);
    if (end) return { kind: 'stopped', compared, end };
    const carried = await applyPlan(scope, options, fence, compared.plan, compared.findings);
    if (passes === MOST_PASSES || carried.isWhole || !convergedBesideWaiting(carried.end))
      return { kind: 'applied', compared, carried };
    compared = await makePlan(scope, options);
  }
}

/** Checks the tenant. @returns the outcome that ends the run without a write; undefined when the tenant is recognised */
async function recognise(scope: ReconcileScope, { plan, findings }: Compared): Promise<End | undefined> {
  if (findings.tenantSuspicion !== undefined)
    return { outcome: 'held', message: await askAboutTenant(scope, findings.tenantSuspicion) };
  // Too few accounts could be read to say which tenant it is, so nothing is written.
  if (!findings.isRecognised) return { outcome: 'unproven', message: whyUnproven(plan) };
  // The comparison looked for the accounts of the former tenant; another connection accepted a new one since.
  if (!findings.hasMoved && (await scope.outbox.hasMoved()))
    return { outcome: 'held', message: acceptedMeanwhileText(scope.target.name) };
  await noteRecognised(scope);
  // A plan that was made for another tenant is not applied, also if the hold of the other connection has ended since.
  const elsewhere =
    findings.suspicionElsewhere ?? (await scope.outbox.guardStore.tenantHoldElsewhere())?.note;
  return elsewhere === undefined
    ? undefined
    : { outcome: 'held', message: anotherTenantText(scope.target.name, elsewhere) };
}

/**
 * Counts the state of all resources after the last pass, moves the items of closed accounts, and stores the report.
 * @param times.startedAt start of the run by the clock of Redis, `begunAt` by that of this process, Unix milliseconds
 */
async function finishRun(
  scope: ReconcileScope,
  options: RunOptions,
  { compared: { plan, findings }, carried }: { compared: Compared; carried: CarriedOut },
  { startedAt, begunAt }: { startedAt: number; begunAt: number },
): Promise<RunResult> {
  const { coverage, end } = await restoreLostAtEnd(scope, options, {
    startedAt: begunAt,
    findings,
    plan,
    carried,
  });
  const { exceptions } = await scope.outbox.backlog();
  const conflicts = await conflictsLeft(scope, plan, carried.marked);
  const afterHandover = options.repair ? await withHandover(scope, plan, end, options) : end;
  const withOpenQuestions = withOpen(await withLoss(scope, afterHandover), findings);
  const finalEnd = withExceptions(withOpenQuestions, exceptions, scope, plan);
  const report = {
    ...toReport(plan, startedAt, await scope.runs.now(), finalEnd),
    coverage,
    exceptions,
    ...(conflicts && { conflicts }),
  };
  // `hasComparedAll` is judged without `withLoss`: a run that compared all stored resources counts, also after a loss of data.
  await scope.runs.end(report, {
    hasComparedAll: comparesAll(afterHandover),
    hasConverged: convergedBesideWaiting(finalEnd),
  });
  return { report, plan };
}

/** Stores the report of a failed run. */
async function noteFailure(
  { runs, clock }: ReconcileScope,
  { id }: RunOptions,
  startedAt: number,
  error: unknown,
): Promise<void> {
  // A failed run has not counted the conflicts, so those of the last run are kept.
  const conflicts = await runs.read().then(
    ({ last }) => last?.conflicts,
    () => undefined,
  );
  const message = isStoreFailure(error)
    ? pastStoreFailureText(error, isoTime(clock.now()))
    : (error as Error).message;
  const store = async (): Promise<void> => {
    const report = failedReport(startedAt, await runs.now(), message, `plan:${id}`);
    await runs.end({ ...report, ...(conflicts && { conflicts }) });
  };
  await store().catch(() => undefined);
}
