// Applies what is left of a saved plan after its review (review-plan.ts), which has compared the plan with the present state:
// acquires the lock, checks that no push came since, marks the changes, waits for the worker, and reports how much of the plan is
// done.
import type { RunReport } from '../../directory/outbox/runs.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { isChange } from '../entry.ts';
import { withHandover } from './handover-after-run.ts';
import { toReport, withLoss } from './make-report.ts';
import { markPlan, type MarkedPlan } from './mark.ts';
import { changesIn, writesIn, type Plan } from '../plan.ts';
import { changedSince, type PlanReview } from '../plan/review-plan.ts';
import { underRunLock } from './run-lock.ts';
import { recordOrder, type RunOptions } from './run.ts';
import type { ReconcileScope } from '../scope.ts';
import type { End } from './ends.ts';
import { untilApplied } from './until-applied.ts';

/**
 * Applies what is left of a saved plan (review-plan.ts). @param review.done number of changes that are already made
 * @throws RunLost when another run took the lock
 */
export async function applySaved(
  scope: ReconcileScope,
  { left: plan, done, unmade, awaited }: Pick<PlanReview, 'left' | 'done' | 'unmade' | 'awaited'>,
  options: Pick<RunOptions, 'guard' | 'signal' | 'logger' | 'onProgress' | 'orderedBy' | 'syncsItself'>,
): Promise<RunReport> {
  await recordOrder(scope, 'apply', options, { subject: `plan:${plan.id}`, count: writesIn(plan) });
  const { runs } = scope;
  return underRunLock(scope, options.signal, async (signal, fence) => {
    const startedAt = await runs.now();
    // A push may have come since the comparison: during the confirmation, a run, or the plan of another target.
    const changes = plan.entries.filter((entry) => isChange(entry) && entry.follows === undefined);
    const overtaken = await changedSince(scope, [...changes, ...awaited]);
    if (overtaken.length > 0) {
      const count = new Set(overtaken.map(({ ref }) => ref)).size;
      const message = `nothing was written here, because resources changed after they were compared: ${count}; make a new plan`;
      const { exceptions } = await scope.outbox.backlog();
      return { ...toReport(plan, startedAt, await runs.now(), { outcome: 'failed', message }), exceptions };
    }
    const { refs: changed, noted, skipped } = await markPlan(scope, plan, options.guard, fence);
    const refs = [...changed, ...awaited.map(({ ref }) => ref)].filter((ref) => !skipped.has(ref));
    // Whether nothing of the plan was left to write when the run began.
    const isDone = noted.applied === 0 && (await scope.drifts.stillMarked(refs)).length === 0;
    const end = await untilApplied(scope, { ...options, signal }, refs, plan);
    const { exceptions } = await scope.outbox.backlog();
    let told = end;
    // Even if every sync has ended, a part of the plan may not be written.
    if (end.outcome === 'converged')
      told = (await unwrittenAdditions(scope, plan)) ?? endOfApply(plan, noted, { done, unmade, isDone });
    const result = await withHandover(scope, plan, told, { id: plan.id, signal, logger: options.logger });
    return { ...toReport(plan, startedAt, await runs.now(), await withLoss(scope, result)), exceptions };
  });
}

/**
 * Returns the end of a run after which additions of members are still pending, although neither their groups nor the resources of
 * the plan have a mark: the additions wait for a user or for another group that changed after the plan. Undefined if there are none.
 */
async function unwrittenAdditions({ outbox }: ReconcileScope, { entries }: Plan): Promise<End | undefined> {
  const ofGroup = new Map<Ref, { user: string; name: string }[]>();
  for (const entry of entries) {
    const { action, ref, member } = entry;
    if (action !== 'addMember' || !ref || !member?.ref || !isChange(entry)) continue;
    const members = ofGroup.get(ref) ?? [];
    members.push({ user: parseRef(member.ref).id, name: member.name || member.ref });
    ofGroup.set(ref, members);
  }
  const names: string[] = [];
  for (const [group, members] of ofGroup) {
    const signs = await outbox.pendingMembers(parseRef(group).id);
    names.push(...members.flatMap(({ user, name }) => (signs.get(user) === '+' ? [name] : [])));
  }
  const [name] = names;
  if (name === undefined) return undefined;
  const message = `memberships of the plan that are not written: ${names.length}, such as one of ${name}; scim-bridge explain ${name} says why`;
  return { outcome: 'failed', message };
}

/**
 * Returns the end of a run that applied a saved plan. For an empty plan the end says that nothing was compared.
 * @param was.done number of changes that the review took out of the plan; `unmade`: see PlanReview
 * @param was.isDone whether no change of the plan was left to write when the run began
 */
function endOfApply(
  plan: Plan,
  { stale, busy }: MarkedPlan['noted'],
  was: { done: number; unmade: number; isDone: boolean },
): End {
  const moved = stale + busy;
  if (moved > 0)
    return {
      outcome: 'failed',
      message: `resources skipped because they changed or were being synced: ${moved}; make a new plan`,
    };
  if (was.unmade > 0)
    return {
      outcome: 'failed',
      message: `changes that were refused, rejected or undone by others since the plan was made: ${was.unmade}; make a new plan`,
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
