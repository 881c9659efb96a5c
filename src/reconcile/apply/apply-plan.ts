// Applies a plan: the guard judges it, changes are marked for the worker, and the end state is verified.
import type { Conflicts, CoverageOfKinds } from '../../directory/outbox/runs.ts';
import type { Drift } from '../../directory/outbox/drift.ts';
import type { Ref } from '../../directory/records.ts';
import type { GuardSettings } from '../../guard/judge.ts';
import { noteDone } from '../compare/done-changes.ts';
import { formerRefusals, judgedUnderFormerSettings, rejectedRefs } from '../unwritten/held.ts';
import { markPlan } from './mark.ts';
import { settleDefinitions } from './settle-definitions.ts';
import type { ReconcileScope } from '../scope.ts';
import type { RunFindings } from '../plan/run-findings.ts';
import { changesIn, type Plan } from '../plan.ts';
import {
  CONVERGED,
  deadLetters,
  toHeld,
  untilApplied,
  type AwaitOptions,
  type End,
} from './until-applied.ts';
import { becomesPending } from '../unwritten/unwritten.ts';
import { readCoverageResult, whatIsMissing } from '../scan/coverage.ts';
import { counted } from '../../support/counted.ts';

export interface ApplyPlanOptions extends AwaitOptions {
  /** False: differences are reported and not repaired. */
  repair: boolean;
  guard: GuardSettings;
  /**
   * Resources that had a mark before the comparison. A command that runs syncs in its own process syncs them too, also those that are
   * equal.
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
  const wanted = changesIn(plan);
  const proven = plan.proof.users.complete && plan.proof.groups.complete && plan.unknown === 0;
  // A plan without changes needs no confirmation.
  const agreed = options.repair && (wanted === 0 || (await (options.confirm?.(plan) ?? true)));
  const decided = agreed ? await decidedRefs(scope, findings) : [];
  const note = { fence, plan, done: proven ? findings.done : [] };
  const pending = options.repair ? (options.pending ?? []) : [];
  const marksNothing = wanted === 0 && !(options.repair && plan.entries.some(becomesPending));
  if (marksNothing) {
    await judgeAnew(scope, decided, note);
    // Lists cannot show what a lost resource lacks; its sync compares it in full.
    const synced = [...findings.lost, ...pending];
    const end =
      synced.length > 0 ? await restoreLost(scope, options, plan, findings.lost, pending) : CONVERGED;
    // A run without repair marks no unmapped users, so the next run maps all users again, until a run has marked them.
    const mapped = findings.mapped && (options.repair || findings.unmapped.length === 0);
    const isWhole = await storeForNextRun(scope, { ...findings, mapped }, NONE_MOVED, options.signal);
    return {
      end: await endOf(scope, options, { plan, proven, decided, synced, end }),
      isWhole,
      marked: [...decided, ...synced],
    };
  }
  if (!agreed) {
    // Nothing was marked, so lost values stay lost.
    const definitions = findings.definitions && { ...findings.definitions, isWhole: false };
    await storeForNextRun(scope, { ...findings, mapped: false, definitions }, NONE_MOVED, options.signal);
    return {
      end: proven
        ? {
            outcome: 'drifted',
            message: `${counted(wanted, 'difference')}: scim-bridge plan shows them, scim-bridge reconcile repairs them`,
          }
        : unproven(plan),
      isWhole: true,
      marked: [],
    };
  }
  const applied = await markPlan(scope, plan, options.guard, fence);
  await judgeAnew(scope, decided, note);
  const ours = [...applied.refs, ...pending];
  const end = await restoreLost(scope, options, plan, findings.lost, ours);
  const moved = applied.noted.stale + applied.noted.busy;
  const isWhole = await storeForNextRun(scope, findings, moved, options.signal);
  const synced = [...ours, ...findings.lost];
  return {
    end: await endOf(scope, options, { plan, proven, decided, synced, end }),
    isWhole,
    marked: [...decided, ...synced],
  };
}

interface Applied {
  plan: Plan;
  proven: boolean;
  /** Resources that the run marked so that their syncs decide anew about held, rejected or refused changes (`judgeAnew`). */
  decided: Ref[];
  /** Other resources that the run marked. */
  synced: Ref[];
  /** Outcome of the syncs of `synced`. */
  end: End;
}

/** Returns the outcome and the message of a run after its marked resources were synced. */
async function endOf(
  scope: ReconcileScope,
  options: ApplyPlanOptions,
  { plan, proven, decided, synced, end }: Applied,
): Promise<End> {
  // Waits for `decided` also if a change is held, because without a worker only this run syncs these resources.
  const isOver = decided.length === 0 || end.outcome === 'failed';
  const judged = isOver ? CONVERGED : await untilApplied(scope, options, decided);
  // Any other outcome already says why the platform is not as desired.
  if (end.outcome !== 'converged' && end.outcome !== 'blocked') return end;
  if (!proven) return unproven(plan);
  if (judged.outcome === 'failed') return judged;
  return (await whatIsHeld(scope)) ?? needingPerson(scope, plan, [...decided, ...synced]);
}

const unproven = (plan: Plan): End => ({ outcome: 'unproven', message: whyUnproven(plan) });

/** `moved` of `storeForNextRun` where the run has marked nothing by its plan, so that no resource was left out. */
const NONE_MOVED = 0;

/** Largest number of times that a run marks lost resources before it ends as incomplete. */
const MOST_ROUNDS = 2;

/**
 * Counts the state of all resources at the end of a run, and syncs resources that were lost meanwhile.
 * @returns the final coverage, and the end of the run
 */
export async function proveDesired(
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
    result = await restoreLost(scope, options, plan, lost);
  }
}

/** Marks lost resources, and waits until they and the resources of the plan are synced. */
async function restoreLost(
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
 * Returns the resources that the run marks even if the plan does not name them, so that a sync decides about them anew:
 * - resources with a held change: they have no mark, and the change may be unwanted now, for instance after a change of rules. On a
 *   target on hold (docs/glossary.md) they are marked after a change of rules only;
 * - resources with a rejected change, if all users were mapped by the present rules: these may no longer want the change;
 * - dead letters that were refused under earlier settings, if the mapping rules changed: their sync may succeed now;
 * - users whose mapping fails, or whose activation waits for a value: their sync stores this as a condition, unless a condition says so;
 * - resources with a held or rejected change that somebody made at the platform, and dead letters without a difference.
 */
async function decidedRefs(
  scope: ReconcileScope,
  { mapsAll, mapped, unmapped, done, doneLetters }: RunFindings,
): Promise<Ref[]> {
  const { guardStore } = scope.outbox;
  // No sync decides anything during a hold, and a mark would count as a change that is not applied yet. Under changed settings
  // the syncs at the end of the hold have to judge the held changes anew, so these get a mark.
  const all = await guardStore.heldRefs();
  const held = mapsAll || !(await guardStore.onHold()) ? all : await judgedUnderFormerSettings(scope, all);
  const rejected = mapped ? await rejectedRefs(scope) : [];
  // The new rules may want no removal from a refused group any more, for which these users wait.
  const former = mapsAll ? [...(await formerRefusals(scope)), ...(await scope.outbox.behindRefused())] : [];
  const doneRefs = [...doneLetters, ...done.map(({ ref }) => ref)];
  return [...new Set([...held, ...rejected, ...former, ...unmapped, ...doneRefs])];
}

/**
 * Notes the done changes and marks the resources of `decidedRefs`. The caller does so before it stores that the new rules
 * are mapped, because no later run marks rejected resources for these rules.
 */
async function judgeAnew(
  scope: ReconcileScope,
  refs: readonly Ref[],
  { fence, plan, done }: { fence: string; plan: Plan; done: Drift[] },
): Promise<void> {
  if (refs.length === 0) return;
  await noteDone(scope, done, { request: `plan:${plan.id}`, fence });
  await scope.outbox.mark([...refs], 'reconcile', `plan:${plan.id}`);
}

/** Returns the end `held` if the guard still holds a change, because the platform is not as desired then; undefined if it does not. */
async function whatIsHeld(scope: ReconcileScope): Promise<End | undefined> {
  const approval = await scope.outbox.guardStore.open();
  return approval && toHeld(scope, approval, { letters: (await scope.outbox.blocked()).length });
}

/** Returns the conflicts of resources that the run did not sync, without those that are dead letters. */
export async function conflictsLeft(
  { outbox }: ReconcileScope,
  { entries }: Plan,
  synced: readonly Ref[],
): Promise<Conflicts | undefined> {
  const known = new Set<Ref | null>([...(await outbox.blocked()).map(({ ref }) => ref), ...synced]);
  const left = entries.filter(({ action, ref }) => action === 'conflict' && !known.has(ref));
  const [first] = left;
  return first && { count: left.length, reason: first.reason };
}

/** Returns the end `blocked` if dead letters or other conflicts need a person, else `converged`. */
async function needingPerson(scope: ReconcileScope, plan: Plan, synced: readonly Ref[]): Promise<End> {
  const letters = (await scope.outbox.blocked()).length;
  const others = (await conflictsLeft(scope, plan, synced))?.count ?? 0;
  if (letters + others === 0) return CONVERGED;
  const parts: string[] = [];
  if (letters > 0) parts.push(deadLetters(letters));
  if (others > 0)
    parts.push(
      `${counted(others, 'conflict')} ${others === 1 ? 'needs' : 'need'} a person: see scim-bridge plan`,
    );
  return { outcome: 'blocked', message: parts.join('; ') };
}

/** Number of names of unread resources in the message of a run. */
const MOST_NAMES = 3;

/** Returns for operators why the lists do not prove that every resource was compared. */
export function whyUnproven({ proof, unknown, unread = [] }: Plan): string {
  // Both lists may be incomplete for the same reason.
  const reasons = [...new Set([proof.users.reason, proof.groups.reason])].filter(
    (reason) => reason !== undefined,
  );
  const names = unread.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = unknown > MOST_NAMES ? ' …' : '';
  if (unknown > 0)
    reasons.push(`${counted(unknown, 'resource')} could not be read (${names.join(', ')}${more})`);
  return reasons.join('; ');
}

/**
 * Stores what the next run builds on: where slow reads continue, groups with equal members, and the rules that mapped all users.
 * @param moved number of resources that were not marked, because they had changed or were being synced
 * @returns false when another pass is needed
 */
async function storeForNextRun(
  scope: ReconcileScope,
  findings: RunFindings,
  moved: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { drifts, runs, digest, rulesAgree } = scope;
  for (const name of ['values', 'members'] as const) {
    const position = findings.cursors[name];
    if (position !== undefined) await runs.moveCursor(name, position);
  }
  for (const each of findings.confirmed) await drifts.confirmRemovals(each);
  await runs.noteGroupsSeen(findings.groupsSeen);
  // After a repair of derived data, resources that changed while they were read are compared again too.
  const isWhole = moved === 0 && (!findings.isRepaired || findings.moved === 0);
  const { definitions } = findings;
  if (definitions) await settleDefinitions(scope, definitions, isWhole && definitions.isWhole, signal);
  // The rules count as mapped only after a pass that left no resource out.
  if (!findings.mapped || !isWhole) return isWhole;
  if (await rulesAgree()) return runs.noteMapped(digest, findings.mappedBy);
  // A process that started meanwhile may have applied the marks by other rules, so a later run maps everything anew.
  await runs.noteAnew();
  return true;
}
