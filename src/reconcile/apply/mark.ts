// Marks the resources that a plan changes, so that the worker syncs them, with notes of what differs at the platform
// (to-drifts.ts). Before the first mark the guard judges the whole plan, and holds the changes that exceed its limits.
import type { Noted } from '../../directory/outbox/drift.ts';
import { changeText, type Destruction } from '../../directory/guard/held-changes.ts';
import { DESTRUCTIVE_KINDS, judgePlan, type DestructiveKind, type GuardSettings } from '../../guard/judge.ts';
import { isChange, needsMark, needsNoPermission, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { countsOf, type Plan } from '../plan.ts';
import { groupsWithEndedHold } from '../unwritten/left-by-settings.ts';
import { toDrifts } from './to-drifts.ts';
import { firstDestruction } from '../unwritten/destructions.ts';
import { becomesPending } from '../unwritten/unwritten-reasons.ts';

export type MarkedPlan = Awaited<ReturnType<typeof markPlan>>;

/**
 * Holds the changes of a plan that exceed the limits of the guard, and marks the other changed resources for the worker. Two more
 * sorts are marked: resources with a change that is written only after a decision (`becomesPending`), and groups whose held
 * removals the settings do not want any more.
 * @throws RunLost when another run has taken over
 */
export async function markPlan(scope: ReconcileScope, plan: Plan, guard: GuardSettings, fence?: string) {
  const toMark = plan.entries.filter(needsMark);
  const held = await holdOverLimit(scope, toMark, guard);
  const drifts = toDrifts([...toMark, ...plan.entries.filter(becomesPending)]);
  // Stores the notes and marks their resources in one step.
  const outcomes = await scope.drifts.note(drifts, `plan:${plan.id}`, fence);
  const skipped = new Set(drifts.flatMap(({ ref }, index) => (outcomes[index] === 'applied' ? [] : [ref])));
  /** Number of resources that were marked (`applied`), had changed meanwhile (`stale`), or were being synced (`busy`). */
  const noted: Record<Noted, number> = { applied: 0, stale: 0, busy: 0 };
  for (const outcome of outcomes) noted[outcome]++;
  const heldTexts = new Set(held.map(changeText));
  const isHeld = (entry: PlanEntry): boolean => {
    const item = firstDestruction(entry);
    return item !== undefined && heldTexts.has(changeText(item));
  };
  await scope.runs.noteWrites(countsOf(toMark.filter((entry) => !isHeld(entry))));
  const refs = plan.entries.flatMap((entry) =>
    (isChange(entry) || becomesPending(entry)) && entry.ref ? [entry.ref] : [],
  );
  // The settings do not want the held removals of these groups any more. The plan need not have an entry that marks them, and
  // memberships and values of the plan may wait until a sync of the group ends the removals.
  const ended = refs.length > 0 ? await groupsWithEndedHold(scope) : [];
  await scope.outbox.mark(ended, 'reconcile', `plan:${plan.id}`);
  return {
    /** All resources that the plan changes or that `markPlan` marks, including those with pending pushes. */
    refs: [...new Set([...refs, ...ended])],
    noted,
    /** Resources that were not marked, because they had changed meanwhile or were being synced. */
    skipped,
  };
}

/**
 * Holds all entries of a kind that exceeds its limit, before any of them is marked. Other kinds are applied.
 * @returns the held changes
 */
async function holdOverLimit(
  { outbox }: ReconcileScope,
  toMark: PlanEntry[],
  guard: GuardSettings,
): Promise<Destruction[]> {
  const asked = toMark.filter((entry) => !needsNoPermission(entry));
  const items = asked.flatMap((entry) => firstDestruction(entry) ?? []);
  if (items.length === 0) return [];
  const wanted = Object.fromEntries(
    DESTRUCTIVE_KINDS.map((kind) => [kind, items.filter((item) => item.kind === kind).length]),
  ) as Record<DestructiveKind, number>;
  const { population, kinds } = await outbox.guardStore.counts(guard.windowMs);
  const verdicts = judgePlan(wanted, kinds, population, guard);
  const over = items.filter(({ kind }) => verdicts[kind].kind === 'held');
  const permissions = await outbox.guardStore.holdAll(over, guard.windowMs);
  // Changes that are approved or already counted are not held again.
  return over.filter((_, index) => permissions[index] === 'held');
}
