// Reports the memberships that wait for the end of a conflict, in the comparison of one resource.
import { isChange, reportedAs, type PlanEntry } from '../entry.ts';
import { WAITS_FOR_GROUP, WAITS_FOR_USER } from '../compare/group-case.ts';
import { isLostValue } from './unmappable.ts';

/**
 * Returns the entries; a membership that waits for the end of a conflict gets the effect `report`. Additions to and removals from a
 * group wait for a conflict of the group, and additions also for one of the user. Nothing waits here for the conflict of an applied
 * value that the platform no longer has (`isLostValue`): `reportUnmappable` decides about it.
 */
export function withConflictsReported(entries: readonly PlanEntry[]): PlanEntry[] {
  const conflicts = new Set(
    entries.flatMap((entry) =>
      entry.action === 'conflict' && entry.ref !== null && !isLostValue(entry) ? [entry.ref] : [],
    ),
  );
  return entries.map((entry) => {
    const { action, ref, member } = entry;
    if (!member || !isChange(entry)) return entry;
    if (ref && conflicts.has(ref)) return reportedAs(entry, WAITS_FOR_GROUP);
    const isOfConflict = action === 'addMember' && member.ref && conflicts.has(member.ref);
    return isOfConflict ? reportedAs(entry, WAITS_FOR_USER) : entry;
  });
}
