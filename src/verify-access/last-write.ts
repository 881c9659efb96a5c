// Finds the last successful write for a user in the provisioning log.
import { parseRef, type Ref } from '../directory/records.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';

export interface LastWrite {
  /** Time at which the platform confirmed the write, Unix milliseconds. */
  at: number;
  /** Time at which the bridge accepted the change, Unix milliseconds. */
  accepted: number;
}

/** Largest number of log entries that are read; older writes are not found. */
const MOST_ENTRIES = 10_000;

/** Returns the newest write of the user or of a membership; undefined if the log has none, because old entries expire. */
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
