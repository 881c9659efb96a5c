// Reads the exceptions of a plan, and adds to the text of each what is done at the platform already, and what else waits for it.
import type { Ref } from '../../directory/records.ts';
import {
  absentText,
  countAbsentLeavers,
  countDecidable,
  doneText,
  type DoneChanges,
} from '../compare/done-changes.ts';
import type { Plan } from '../plan.ts';
import type { ReconcileScope } from '../scope.ts';

/** Largest number of exceptions that a plan lists; it counts all of them. */
const MOST_EXCEPTIONS = 1000;

/**
 * Returns the number of exceptions, and the oldest of them for display.
 * @param done changes that the platform has already
 * @param waiting by person, a text about what waits for the held deactivation
 */
export async function exceptionsOfPlan(
  { outbox }: ReconcileScope,
  done: readonly DoneChanges[],
  waiting: ReadonlyMap<Ref, string>,
): Promise<Plan['exceptions']> {
  const { exceptions } = await outbox.backlog();
  const items = exceptions.total === 0 ? [] : await outbox.exceptions({ limit: MOST_EXCEPTIONS });
  const [counts, absent] = await Promise.all([
    countDecidable(outbox, done),
    countAbsentLeavers(outbox, done),
  ]);
  return {
    // Syncs may add exceptions between the two reads.
    total: Math.max(exceptions.total, items.length),
    items: items.map((each) => {
      // A target on hold is an exception without a resource.
      const count = each.ref === null ? undefined : counts.get(each.ref);
      const absentMembers = each.ref === null ? undefined : absent.get(each.ref);
      const told = [
        each.message,
        count && doneText(count),
        absentMembers && absentText(absentMembers),
        each.ref === null ? undefined : waiting.get(each.ref),
      ];
      return { ...each, message: told.filter(Boolean).join('; ') };
    }),
  };
}
