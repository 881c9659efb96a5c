// Finds the closed accounts that the present settings delete although no sync of them is due, such as accounts that were closed before
// `users.deleteAfterDays` was set.
import { parseRef, type Ref } from '../../directory/records.ts';
import { deletionDue } from '../../sync/user/deletion-due.ts';
import type { ReconcileScope } from '../scope.ts';

/** Returns those of the departed users whose account is due for its deletion. */
export async function dueDeletions(
  { clock, drifts, target }: ReconcileScope,
  departed: readonly Ref[],
): Promise<Ref[]> {
  if (departed.length === 0) return [];
  const deletedAt = await drifts.deletionTimes(departed.map((ref) => parseRef(ref).id));
  const now = clock.now();
  return departed.filter((_, index) => (deletionDue(target.policy, deletedAt[index]) ?? Infinity) <= now);
}
