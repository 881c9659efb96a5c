// Applies a plan: the guard judges it, changes are marked for the worker, and the end state is verified. Also marks resources with
// held, rejected or refused changes, so that their syncs decide about these changes anew.
import type { ComparedDefinitions } from '../../directory/outbox/known-definitions.ts';
import type { CoverageOfKinds } from '../../directory/outbox/runs.ts';
import { isStoreFailure } from '../../directory/redis/why-away.ts';
import type { Ref } from '../../directory/records.ts';
import type { GuardSettings } from '../../guard/judge.ts';
import { markPlan } from './mark.ts';
import type { ReconcileScope } from '../scope.ts';
import type { RunFindings } from '../plan/run-findings.ts';
import { changesIn, type Plan } from '../plan.ts';
import { CONVERGED, untilApplied, type AwaitOptions, type End } from './until-applied.ts';
import { becomesPending } from '../unwritten/unwritten.ts';
import { readCoverageResult, whatIsMissing } from '../scan/coverage.ts';
import { counted } from '../../support/counted.ts';
import { endOfRun, unproven } from './end-of-run.ts';
import type { Drift } from '../../directory/outbox/drift.ts';
import { noteDone } from '../compare/done-changes.ts';
import { formerRefusals, judgedUnderFormerSettings, rejectedRefs } from '../unwritten/held.ts';

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
 * Marks the changes of a plan, waits until they are applied, and stores what the next run builds on.
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
  const isProven = plan.proof.users.complete && plan.proof.groups.complete && plan.unknown === 0;
  // A plan without changes needs no confirmation.
  const mayRepair = repair && (changeCount === 0 || ((await confirm?.(plan)) ?? true));
  if (changeCount > 0 && !mayRepair) return reportOnly(scope, plan, { findings, isProven, signal });

  const toJudge = mayRepair ? await refsToJudgeAnew(scope, findings) : [];
  const pending = mayRepair ? (options.pending ?? []) : [];
  const needsMarks = changeCount > 0 || (mayRepair && plan.entries.some(becomesPending));
  const markedPlan = needsMarks ? await markPlan(scope, plan, guard, fence) : undefined;
  await markToJudgeAnew(scope, toJudge, { fence, plan, done: isProven ? findings.done : [] });
  const marked = [...(markedPlan?.refs ?? []), ...pending];
  // Lists cannot show what the resources of `findings.toMark` lack; their sync compares them in full.
  const synced = [...marked, ...findings.toMark];
  const isAnySynced = needsMarks || synced.length > 0;
  const end = isAnySynced ? await markAndWait(scope, options, plan, findings.toMark, marked) : CONVERGED;
  // A run without repair marks no unmapped users, so the next run maps all users again, until a run has marked them.
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
  // Nothing was marked, so values lost with a definition stay lost.
  const definitions = findings.definitions && { ...findings.definitions, isWhole: false };
  const unmarked = { ...findings, mapped: false, definitions };
  await storeForNextRun(scope, unmarked, { isAllMarked: true, signal });
  const differences = counted(changesIn(plan), 'difference');
  const drifted: End = {
    outcome: 'drifted',
    message: `${differences}: scim-bridge plan shows them, scim-bridge reconcile repairs them`,
  };
  return { end: isProven ? drifted : unproven(plan), isWhole: true, marked: [] };
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
    if (result.outcome !== 'converged' || lost.length === 0) return { coverage, end: result };
    if (round > MOST_ROUNDS)
      return { coverage, end: { outcome: 'incomplete', message: whatIsMissing(coverage) } };
    result = await markAndWait(scope, options, plan, lost);
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

/**
 * Stores what the next run builds on: where slow reads continue, groups with equal members, and the rules that mapped all users.
 * @param isAllMarked false: resources of the plan were not marked, because they had changed or were being synced
 * @returns false when another pass is needed
 */
async function storeForNextRun(
  scope: ReconcileScope,
  findings: RunFindings,
  { isAllMarked, signal }: { isAllMarked: boolean; signal: AbortSignal },
): Promise<boolean> {
  const { drifts, runs, digest, rulesAgree } = scope;
  for (const name of ['values', 'members'] as const) {
    const position = findings.cursors[name];
    if (position !== undefined) await runs.moveCursor(name, position);
  }
  for (const each of findings.confirmed) await drifts.confirmRemovals(each);
  await runs.noteGroupsSeen(findings.groupsSeen);
  // After a repair of derived data, resources that changed while they were read are compared again too.
  const isWhole = isAllMarked && (!findings.isRepaired || findings.moved === 0);
  const { definitions } = findings;
  if (definitions) await settleDefinitions(scope, definitions, isWhole && definitions.isWhole, signal);
  // Users count as mapped only after a pass that left no resource out.
  if (!findings.mapped || !isWhole) return isWhole;
  if (await rulesAgree()) return runs.noteMapped(digest, findings.mappedBy);
  // A process that started meanwhile may have applied the marks by other rules, so a later run maps everything anew.
  await runs.noteAnew();
  return true;
}

const NO_IDS: ReadonlyMap<string, string> = new Map();

/**
 * Stores the definitions of the comparison. A definition that was missing is read again, because the writes of the run have made it
 * anew. If this read fails, or the definition now has another type, the values count as lost, and the next run compares them again.
 * @param isWritten whether all lost values are written, or ordered by marks
 */
async function settleDefinitions(
  { outbox, target }: Pick<ReconcileScope, 'outbox' | 'target'>,
  compared: ComparedDefinitions,
  isWritten: boolean,
  signal: AbortSignal,
): Promise<void> {
  const wasMissing = [...compared.deleted].some((name) => !compared.ids.has(name));
  if (!isWritten || !wasMissing) return outbox.definitions.settle(compared, isWritten);
  const present = await target.catalogue.faults(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (isStoreFailure(error)) throw error;
    return undefined;
  });
  const madeAgain = [...compared.deleted].flatMap((name) => {
    const id = compared.ids.get(name) ?? present?.ids.get(name);
    return id === undefined ? [] : [[name, id] as const];
  });
  const ids = new Map([...compared.ids, ...madeAgain]);
  const ofOtherType = new Set(
    [...compared.deleted].filter((name) => compared.ofOtherType.has(name) || present?.conflicts.has(name)),
  );
  const writable = new Set([...compared.deleted].filter((name) => !ofOtherType.has(name)));
  await outbox.definitions.settle({ ids, deleted: writable }, present !== undefined);
  return outbox.definitions.settle({ ids: NO_IDS, deleted: ofOtherType }, false);
}

/**
 * Returns the resources that the run marks even if the plan does not name them, so that a sync decides about them anew:
 * - resources with a held change: they have no mark, and the change may be unwanted now, for instance after a change of rules. On a
 *   target on hold (docs/glossary.md) they are marked after a change of rules only;
 * - resources with a rejected change, if all users were mapped by the present rules: these may no longer want the change;
 * - dead letters that were refused under earlier settings, if the mapping rules changed: their sync may succeed now;
 * - users who wait for their removal from a group that is such a dead letter: the new rules may not want the removal any more;
 * - users whose mapping fails, or whose activation waits for a value, without a condition that says so: their sync stores one;
 * - resources with a held or rejected change that somebody made at the platform, and dead letters without a difference.
 */
async function refsToJudgeAnew(
  scope: ReconcileScope,
  { mapsAll, mapped, unmapped, done, endedDeadLetters }: RunFindings,
): Promise<Ref[]> {
  const { guardStore } = scope.outbox;
  // No sync decides anything during a hold, and a mark would count as a change that is not applied yet. Under changed settings
  // the syncs at the end of the hold have to judge the held changes anew, so these get a mark.
  const all = await guardStore.heldRefs();
  const held = mapsAll || !(await guardStore.onHold()) ? all : await judgedUnderFormerSettings(scope, all);
  const rejected = mapped ? await rejectedRefs(scope) : [];
  const deadLetters = mapsAll ? await formerRefusals(scope) : [];
  const behindDeadLetters = mapsAll ? await scope.outbox.behindRefused() : [];
  const doneRefs = [...endedDeadLetters, ...done.map(({ ref }) => ref)];
  return [...new Set([...held, ...rejected, ...deadLetters, ...behindDeadLetters, ...unmapped, ...doneRefs])];
}

/**
 * Notes the done changes and marks the resources of `refsToJudgeAnew`. Called before `storeForNextRun` stores that all users were
 * mapped by the new rules: later runs then do not map all users, and mark no rejected resource for these rules.
 */
async function markToJudgeAnew(
  scope: ReconcileScope,
  refs: readonly Ref[],
  { fence, plan, done }: { fence: string; plan: Plan; done: Drift[] },
): Promise<void> {
  if (refs.length === 0) return;
  await noteDone(scope, done, { request: `plan:${plan.id}`, fence });
  await scope.outbox.mark([...refs], 'reconcile', `plan:${plan.id}`);
}
