// When something was last written at the platform for a person, by the provisioning log.
import { parseRef, type Ref } from '../directory/records.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';

export interface LastWrite {
  /** When the platform had confirmed it, and when the change in it had been accepted; Unix milliseconds. */
  at: number;
  accepted: number;
}

/** How many entries are looked through; somebody who is older than that has no recent change to time. */
const MOST_ENTRIES = 10_000;

/** Undefined: the log, which does not go back for ever, says nothing. Memberships are entries of their group. */
export async function lastWrite(
  { outbox }: Pick<ReconcileScope, 'outbox'>,
  ref: Ref,
): Promise<LastWrite | undefined> {
  const { id } = parseRef(ref);
  let seen = 0;
  for await (const portion of outbox.log.newest()) {
    const found = portion.find(
      (entry) => entry.status === 'success' && (entry.ref === ref || entry.members?.includes(id)),
    );
    if (found) return { at: found.at, accepted: found.accepted };
    seen += portion.length;
    if (seen >= MOST_ENTRIES) return undefined;
  }
  return undefined;
}
