// Converts a plan to drift notes and marks for the worker. The guard judges the whole plan before the first mark.
import type { Drift, Noted } from '../../directory/outbox/drift.ts';
import type { Ref } from '../../directory/records.ts';
import { storedNameOf } from '../../directory/member-names.ts';
import { changeText, type Destruction } from '../../directory/guard/held-changes.ts';
import { DESTRUCTIVE_KINDS, judgePlan, type DestructiveKind, type GuardSettings } from '../../guard/judge.ts';
import { isChange, isTakenOut, needsMark, needsNoPermission, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { countsOf, type Plan } from '../plan.ts';
import { groupsWithEndedHold } from '../unwritten/left-by-settings.ts';
import { becomesPending, firstDestruction, isOpenAccount, toDestruction } from '../unwritten/unwritten.ts';

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
  const outcomes = await scope.drifts.note(drifts, `plan:${plan.id}`, fence);
  const skipped = new Set(drifts.flatMap(({ ref }, index) => (outcomes[index] === 'applied' ? [] : [ref])));
  /** Number of resources that were marked (`applied`), had changed meanwhile (`stale`), or were being synced (`busy`). */
  const noted: Record<Noted, number> = { applied: 0, stale: 0, busy: 0 };
  for (const outcome of outcomes) noted[outcome]++;
  const heldTexts = new Set(held.map(changeText));
  const ordered = toMark.filter((entry) => {
    const item = firstDestruction(entry);
    return !item || !heldTexts.has(changeText(item));
  });
  await scope.runs.noteWrites(countsOf(ordered));
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

/** Returns the deactivation that has to be decided before an account is deleted or leaves a group. */
function awaitedBy({ action, kind, ref, member }: PlanEntry): Destruction | undefined {
  let account: Ref | null | undefined;
  if (action === 'delete' && kind === 'User') account = ref;
  if (action === 'removeMember') account = member?.ref;
  return account ? { kind: 'deactivate', ref: account } : undefined;
}

/** Returns a test of whether a destructive change is in the plan, or is the deactivation that a change of the plan waits for. */
export function removalsOf(plan: Plan): (item: Destruction) => boolean {
  const changes = plan.entries.filter(isChange);
  const items = [
    ...changes.flatMap((entry) => toDestruction(entry) ?? []),
    ...changes.flatMap((entry) => awaitedBy(entry) ?? []),
  ];
  const texts = new Set(items.map(changeText));
  return (item) => texts.has(changeText(item));
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

/** Returns one drift note for each resource of the entries, with the values and memberships that have to be written again. */
export function toDrifts(entries: PlanEntry[]): Drift[] {
  const drifts = new Map<Ref, Drift>();
  for (const entry of entries) {
    if (entry.ref === null) continue;
    const drift = drifts.get(entry.ref) ?? {
      ref: entry.ref,
      ...entry.basis,
      names: [],
      observed: {},
      add: [],
      remove: [],
      priority: 'reconcile' as const,
    };
    drifts.set(entry.ref, drift);
    const names = namesIn(entry);
    drift.names.push(...names);
    for (const name of names) {
      // Entries of attributes have the name without `attributes.` in `before`.
      const value = entry.before?.[name.replace(/^attributes\./, '')];
      if (value !== undefined) drift.observed[name] = value;
    }
    if (entry.member) {
      const member = storedNameOf(entry.member);
      drift[entry.action === 'removeMember' ? 'remove' : 'add'].push(member);
      if (isTakenOut(entry)) (drift.takenOut ??= []).push(member);
    }
    // One urgent entry makes the whole note urgent.
    if (entry.action === 'deactivate' || isOpenAccount(entry)) drift.priority = 'deactivation';
  }
  return [...drifts.values()];
}

/**
 * Returns the names for `Link.unsure`: values that the sync has to write although the link says that they are written. Only
 * drift needs such names: other changes have new values, which differ from the link.
 */
function namesIn(entry: PlanEntry): string[] {
  const { action, attribution, attribute, platformId, after } = entry;
  if (attribution.cause === 'mapping changed' || attribution.cause === 'not applied') return [];
  switch (action) {
    case 'deactivate':
    case 'reactivate':
      return ['active'];
    case 'setAttribute':
    case 'clearAttribute':
      return attribute === undefined ? [] : [`attributes.${attribute}`];
    case 'update':
      return Object.keys(after ?? {});
    case 'create':
    case 'relink':
      // The link has no id, so the sync creates the resource with all values.
      if (platformId === null) return [];
      // The link still has the id of the deleted object. The sync writes these values there, gets 404, and then looks the resource up
      // anew. `id` is no value, and the sync of the new account writes `active` in any case.
      return Object.keys(after ?? {}).filter((name) => name !== 'active' && name !== 'id');
    case 'delete':
      // The account was opened again: its sync closes the account before the deletion.
      return isOpenAccount(entry) ? ['active'] : [];
    case 'adopt':
    case 'defineAttribute':
    case 'addMember':
    case 'removeMember':
    case 'conflict':
    case 'unmanaged':
      return [];
  }
}
