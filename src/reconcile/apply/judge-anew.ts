// Marks resources with a held, rejected or refused change, so that their syncs decide about the change anew: the change may be
// unwanted, made by somebody else, or possible by now. The run marks these resources even if its plan does not name them.
// `refsToJudgeAnew` selects them, `markToJudgeAnew` marks them.
import type { Drift } from '../../directory/outbox/drift.ts';
import type { Ref } from '../../directory/records.ts';
import { noteDone } from '../compare/done-changes.ts';
import type { Plan } from '../plan.ts';
import type { RunFindings } from '../plan/run-findings.ts';
import type { ReconcileScope } from '../scope.ts';
import { formerRefusals, judgedUnderFormerSettings, rejectedRefs } from '../unwritten/held.ts';

/**
 * Returns the resources that the run marks so that a sync decides about them anew:
 * - resources with a held change: they have no mark, and the change may be unwanted now, for instance after a change of rules. On a
 *   target on hold (docs/glossary.md) they are marked after a change of rules only;
 * - resources with a rejected change, if all users were mapped by the present rules: the rules may no longer want the change;
 * - dead letters that were refused under earlier settings, if the mapping rules changed: their sync may succeed now;
 * - users who wait for their removal from a group that is such a dead letter: the new rules may not want the removal any more;
 * - users whose mapping fails, or whose activation waits for a value, without a condition that says so: their sync stores one;
 * - resources with a held or rejected change that somebody made at the platform, and dead letters without a difference.
 */
export async function refsToJudgeAnew(
  scope: ReconcileScope,
  { mapsAll, mapped, unmapped, done, endedDeadLetters }: RunFindings,
): Promise<Ref[]> {
  const { guardStore } = scope.outbox;
  // During a hold, a resource with a held change usually gets no mark: no sync would decide, and the mark would count as a change
  // that is not applied yet. If its change was judged under former settings it gets one, so that its sync at the end of the hold
  // judges anew. After a run that mapped all users, all get one.
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
export async function markToJudgeAnew(
  scope: ReconcileScope,
  refs: readonly Ref[],
  { fence, plan, done }: { fence: string; plan: Plan; done: Drift[] },
): Promise<void> {
  if (refs.length === 0) return;
  await noteDone(scope, done, { request: `plan:${plan.id}`, fence });
  await scope.outbox.mark([...refs], 'reconcile', `plan:${plan.id}`);
}
