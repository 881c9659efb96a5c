// Tells whether the resources for which a command waits are all due later, so that it need not wait for them.
import type { Ref } from '../../directory/records.ts';
import { counted } from '../../support/counted.ts';
import { isoTime } from '../../support/sources.ts';
import type { ReconcileScope } from '../scope.ts';

/** Time after which a due time counts as late, milliseconds; repeated tries after a failure are due earlier (sync/calls/failures.ts). */
export const LATE_MS = 30_000;
/** Largest number of resources that are read. */
const MOST_READ = 1000;

/**
 * Returns the words for resources that are all due later and not under way, one of them by more than LATE_MS: the due time of
 * that one, and the command that tells why. Undefined: one of the resources is due or under way, none is due that
 * late, or there are more than MOST_READ.
 */
export async function dueLaterText(
  { outbox, clock }: Pick<ReconcileScope, 'outbox' | 'clock'>,
  refs: readonly Ref[],
): Promise<string | undefined> {
  if (refs.length > MOST_READ) return undefined;
  let late: { ref: Ref; dueAt: number } | undefined;
  for (const ref of refs) {
    const { mark } = await outbox.resourceStatus(ref);
    const dueAt = mark?.dueAt ?? 0;
    if (mark?.state !== 'due' || dueAt <= clock.now()) return undefined;
    if (dueAt > clock.now() + LATE_MS && dueAt < (late?.dueAt ?? Infinity)) late = { ref, dueAt };
  }
  return (
    late &&
    `${counted(refs.length, 'change')} not applied yet: ${late.ref} is not due before ${isoTime(late.dueAt)}, and scim-bridge explain ${late.ref} tells why`
  );
}
