// Names the cause of memberships that the platform lacks, in the comparison of one resource. A plan names the causes of all its
// differences at once (plan/make-plan.ts).
import { isChange, isDrift, isTakenOut, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { ifOpen, readRestored } from '../tenant/restored.ts';
import { attributeDrift } from './attribution.ts';
import { readValueWrites } from './last-writes.ts';
import type { VerifiedResource } from './verified.ts';

/** Longest search of the log, milliseconds: shorter than that of a plan, because the whole comparison has only a few seconds. */
const SEARCH_MS = 1000;

/**
 * Returns the entries of these groups. If the platform answered the earlier write of an addition with success, and the group has not
 * changed since, the reason says that the platform did not carry the write out, and not that somebody took the member out.
 */
export async function withMissingCauses(
  scope: ReconcileScope,
  groups: VerifiedResource[],
): Promise<PlanEntry[]> {
  const isMissing = (entry: PlanEntry): boolean => isTakenOut(entry) && isChange(entry) && isDrift(entry);
  const lacking = groups.filter(({ entries }) => entries.some(isMissing));
  if (lacking.length === 0) return groups.flatMap(({ entries }) => entries);
  const lastWrite = await readValueWrites(scope, lacking, SEARCH_MS);
  const openRestore = await ifOpen(await readRestored(scope.acts), scope);
  // The audit log of the platform names who changed a group, which no comparison of one resource tells.
  return attributeDrift(groups, { trail: undefined, lastWrite, openRestore, deleted: undefined });
}
