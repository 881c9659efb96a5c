// Applies the plan of a reconcile: marks the changed resources for the worker, waits until their syncs have ended, and stores
// what the next run builds on. `applyPlan` makes one pass; run.ts repeats it with a new plan while resources were left out. At
// the end `restoreLostAtEnd` counts the state of all resources.
import type { CoverageOfKinds } from '../../directory/outbox/runs.ts';
import type { Ref } from '../../directory/records.ts';
import type { GuardSettings } from '../../guard/judge.ts';
import { CONVERGED, convergedBesideWaiting, type End } from './ends.ts';
import { markToJudgeAnew, refsToJudgeAnew } from './judge-anew.ts';
import { markPlan } from './mark.ts';
import { withPart } from './make-report.ts';
import type { ReconcileScope } from '../scope.ts';
import type { RunFindings } from '../plan/run-findings.ts';
import { changesIn, isReadWhole, type Plan } from '../plan.ts';
import { storeForNextRun } from './store-for-next-run.ts';
import { untilApplied, type AwaitOptions } from './until-applied.ts';
import { becomesPending } from '../unwritten/unwritten-reasons.ts';
import { readCoverageResult, whatIsMissing } from '../scan/coverage.ts';
import { counted } from '../../support/counted.ts';
import { endOfRun, whyUnproven } from './end-of-run.ts';

export interface ApplyPlanOptions extends AwaitOptions {
  /** False: differences are reported and not repaired. */
  repair: boolean;
  guard: GuardSettings;
  /**
   * Resources that had a mark before the comparison. A command that runs syncs in its own process syncs them too, even without a
   * difference.
   */
  pending?: Ref[] | undefined;
  /** Called with the plan; false ends the run without a change. */
  confirm?: ((plan: Plan) => Promise<boolean>) | undefined;
}

/** Result of applying one plan. */
export interface CarriedOut {
  end: End;
  /** False: resources were left out, so another pass is needed. */
  isWhole: boolean;
  /** Resources that this run marked. Their state has changed since the plan was made. */
  marked: Ref[];
}

/**
 * Marks the changes of a plan, waits until they are applied, and stores what the next run builds on. Four sorts of resources get a
 * mark or have one: those that the plan changes (`markPlan`), those whose syncs decide anew (`toJudge`), those that were marked
 * before (`pending`), and those whose differences the plan cannot show (`findings.toMark`).
 * @throws RunLost when another run has taken over
 */
export async function applyPlan(
  scope: ReconcileScope,
  options: ApplyPlanOptions,
  fence: string,
  plan: Plan,
  findings: RunFindings,
): Promise<CarriedOut> {
  const { repair, confirm, guard, signal } = options;
  const changeCount = changesIn(plan);
  const isProven = isReadWhole(plan);
  // A plan without changes needs no confirmation.
  const mayRepair = repair && (changeCount === 0 || ((await confirm?.(plan)) ?? true));
  // The run may have been aborted while `confirm` waited for the operator.
  signal.throwIfAborted();
  if (changeCount > 0 && !mayRepair) return reportOnly(scope, plan, { findings, isProven, signal });

  const toJudge = mayRepair ? await refsToJudgeAnew(scope, findings) : [];
  const pending = mayRepair ? (options.pending ?? []) : [];
  const needsMarks = changeCount > 0 || (mayRepair && plan.entries.some(becomesPending));
  const markedPlan = needsMarks ? await markPlan(scope, plan, guard, fence) : undefined;
  await markToJudgeAnew(scope, toJudge, { fence, plan, done: isProven ? findings.done : [] });

  const marked = [...(markedPlan?.refs ?? []), ...pending];
  // The lists of the platform cannot show differences of the resources of `findings.toMark`. Only their syncs compare them in full.
  const synced = [...marked, ...findings.toMark];
  const isAnySynced = needsMarks || synced.length > 0;
  const end = isAnySynced ? await markAndWait(scope, options, plan, findings.toMark, marked) : CONVERGED;

  // A run without repair does not mark the unmapped users, so each next run maps all users again, until a run has marked them.
  const mapped = findings.mapped && (repair || findings.unmapped.length === 0);
  const isAllMarked = markedPlan === undefined || markedPlan.skipped.size === 0;
  const isWhole = await storeForNextRun(scope, { ...findings, mapped }, { isAllMarked, signal });
  return {
    end: await endOfRun(scope, options, { plan, isProven, toJudge, synced, end }),
    isWhole,
    marked: [...toJudge, ...synced],
  };
}

/** Ends a run that found changes and may write none: by the settings, or because the operator refused the plan. */
async function reportOnly(
  scope: ReconcileScope,
  plan: Plan,
  { findings, isProven, signal }: { findings: RunFindings; isProven: boolean; signal: AbortSignal },
): Promise<CarriedOut> {
  // Nothing was marked, so the values that were lost with a deleted attribute definition still have to be written.
  const definitions = findings.definitions && { ...findings.definitions, isWhole: false };
  const unmarked = { ...findings, mapped: false, definitions };
  await storeForNextRun(scope, unmarked, { isAllMarked: true, signal });
  const differences = counted(changesIn(plan), 'difference');
  const message = `${differences}: scim-bridge plan shows them, scim-bridge reconcile repairs them`;
  const end: End = isProven
    ? { outcome: 'drifted', message }
    : { outcome: 'unproven', message: withPart(whyUnproven(plan), message) };
  return { end, isWhole: true, marked: [] };
}

/** Largest number of times that a run marks lost resources before it ends as incomplete. */
const MOST_ROUNDS = 2;

/**
 * Counts the state of all resources at the end of a run, and syncs resources that were lost meanwhile.
 * @param run.startedAt start of the run by the clock of this process, Unix milliseconds
 * @returns the final coverage, and the end of the run
 */
export async function restoreLostAtEnd(
  scope: ReconcileScope,
  options: ApplyPlanOptions,
  {
    startedAt,
    findings,
    plan,
    carried: { end, marked },
  }: { startedAt: number; findings: RunFindings; plan: Plan; carried: CarriedOut },
): Promise<{ coverage: CoverageOfKinds; end: End }> {
  // The run marked nothing, and the plan has no change, so the counts of the plan are still right.
  if (marked.length + changesIn(plan) === 0) return { coverage: plan.coverage, end };
  let result = end;
  for (let round = 1; ; round++) {
    const { coverage, lost } = await readCoverageResult(scope, findings.isShown, plan.coverage, startedAt);
    if (!convergedBesideWaiting(result) || lost.length === 0) return { coverage, end: result };
    if (round > MOST_ROUNDS)
      return { coverage, end: { outcome: 'incomplete', message: whatIsMissing(coverage) } };
    const restored = await markAndWait(scope, options, plan, lost);
    // If people still wait for a refused group (`isOnlyWaiting`), converged syncs of the lost resources do not change that.
    if (!convergedBesideWaiting(restored) || !result.isOnlyWaiting) result = restored;
  }
}

/** Marks lost resources, and waits until they and the resources of the plan are synced. */
async function markAndWait(
  scope: ReconcileScope,
  options: AwaitOptions,
  { id }: Plan,
  lost: Ref[],
  marked: Ref[] = [],
): Promise<End> {
  if (lost.length > 0) await scope.coverage.restoreMarks(lost, `plan:${id}`);
  return untilApplied(scope, options, [...new Set([...marked, ...lost])]);
}
