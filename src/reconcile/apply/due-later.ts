// Tells a command that its resources are not due soon, so that it does not wait for them.
import type { Ref } from '../../directory/records.ts';
import { counted } from '../../support/counted.ts';
import { isoTime } from '../../support/sources.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Milliseconds; a command does not wait for a resource that is due later. The next try after a failed call is not that far ahead,
 * unless the platform asked for more by Retry-After (sync/calls/failures.ts).
 */
export const FAR_AHEAD_MS = 30_000;
/** With more resources, none is read: each takes a call of Redis of its own. */
const MOST_READ = 1000;

/**
 * Returns a sentence if all resources wait for a later due time, and at least one of them for more than FAR_AHEAD_MS. Of those that
 * wait so long, the sentence names the one that is due first, its due time, and the command that tells why. Undefined: a resource
 * is due, under way or without mark; none is due that far ahead; or there are more than MOST_READ.
 */
export async function dueLaterText(
  { outbox, clock }: Pick<ReconcileScope, 'outbox' | 'clock'>,
  refs: readonly Ref[],
): Promise<string | undefined> {
  if (refs.length > MOST_READ) return undefined;
  let next: { ref: Ref; dueAt: number } | undefined;
  for (const ref of refs) {
    const { mark } = await outbox.resourceStatus(ref);
    const dueAt = mark?.dueAt ?? 0;
    if (mark?.state !== 'due' || dueAt <= clock.now()) return undefined;
    if (dueAt > clock.now() + FAR_AHEAD_MS && dueAt < (next?.dueAt ?? Infinity)) next = { ref, dueAt };
  }
  return (
    next &&
    `${counted(refs.length, 'change')} not applied yet: ${next.ref} is not due before ${isoTime(next.dueAt)}, and scim-bridge explain ${next.ref} tells why`
  );
}
