// Judges how a sync that an operator ordered ended, from the comparison before it and from what is stored after it.
import { parseRef, type Ref } from '../../directory/records.ts';
import { isRename } from '../../reconcile/compare/group-names.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { isChange, type PlanEntry } from '../../reconcile/entry.ts';
import { withNames } from '../../reconcile/compare/entry-names.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import type { FoundResource } from '../find.ts';
import { withGone } from './gone-account.ts';
import { withRejectedRemovals } from './rejected-removals.ts';
import { endOf } from './sync-end.ts';
import { withUnwrittenOthers, withWaiting } from './sync-end-memberships.ts';
import type { SyncEnd, SyncReport } from './sync-outcome.ts';
import { stopText, withLeftAlone } from './sync-stops.ts';
import {
  unnotedEnd,
  unreadEnd,
  withConflicts,
  withLeftByPolicy,
  withNotCompared,
} from './unwritten-differences.ts';

/** Facts known before the syncs of a resource, and the other resources that were synced. */
interface BeforeSyncs extends Pick<SyncReport, 'differences' | 'pendingGroups'> {
  /** The comparison with the platform; null: it was not read. */
  look: ComparedOne | null;
  /** All entries of this comparison, and those of the pending memberships that it lacks; null: not read. */
  entries: PlanEntry[] | null;
  /** Groups or members that were synced first (`resourcesToSync`). */
  others: readonly Ref[];
  /** A difference that was not stored (`orderSync`). */
  unnoted: { ref: Ref } | undefined;
}

/**
 * Returns how the ordered syncs ended for the resource. The message also names the groups or members of the resource whose own sync
 * is to come or was refused, and the differences that no sync writes.
 */
export async function endOfSyncs(
  scope: ReconcileScope,
  found: FoundResource,
  { look, entries, differences, others, pendingGroups, unnoted }: BeforeSyncs,
): Promise<SyncEnd> {
  const { ref } = found;
  const ownEnd = await endOf(scope, ref);
  // Renames that the platform refused, also if an operator dropped the dead letter.
  const unwrittenRenames = (look?.entries ?? []).filter((entry) => isRename(entry) && !isChange(entry));
  // Without the groups with a pending membership of the person, because `withWaiting` reports these.
  const misnamed = [...(look?.refusedNames ?? []), ...unwrittenRenames].flatMap(({ ref: group }) =>
    group && group !== ref && !(parseRef(group).id in pendingGroups) ? [group] : [],
  );
  const isOver = ownEnd.outcome !== 'waiting' && (await stopText(scope)) === undefined;
  let end = isOver ? await withUnwrittenOthers(scope, ownEnd, found, [...others, ...misnamed]) : ownEnd;
  if (end.outcome === 'equal') {
    const named = entries && (await withNames(scope, entries));
    end = unnoted
      ? unnotedEnd(unnoted.ref)
      : await endOfWritten(scope, found, { end, look, entries: named, differences });
  }
  // Without a comparison it is unknown which rejected removals others made at the platform.
  if (!look) return end;
  const unclear = [...(look.pendingDone ?? []), ...(look.pendingUnread ?? [])];
  return withRejectedRemovals(scope, end, found, unclear);
}

/** Adds to the report of a resource without a change left to write what the comparison before the syncs showed. */
async function endOfWritten(
  scope: ReconcileScope,
  found: FoundResource,
  compared: {
    end: SyncEnd;
    look: ComparedOne | null;
    entries: PlanEntry[] | null;
    differences: PlanEntry[] | null;
  },
): Promise<SyncEnd> {
  const { end, look, entries, differences } = compared;
  const { kind, ref } = found;
  if (!look || look.areValuesUnread) return unreadEnd(look);
  // A report that has a message says the reason already.
  const told = end.message === undefined ? withGone(await withLeftAlone(scope, found, end), look) : end;
  const waiting =
    told.outcome === 'needsPerson' ? told : await withWaiting(scope, told, { ref, entries: entries ?? [] });
  // The sync of a group has judged or written all pending removals, so nothing is left to compare.
  const notCompared = kind === 'User' ? look.notCompared : 0;
  const written = withLeftByPolicy(scope, withConflicts(waiting, { ref, differences }), { ref, differences });
  return withNotCompared(written, kind, notCompared);
}
