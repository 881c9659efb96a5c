// Finds the writes of a user in the provisioning log: the newest one, and the one that applied the last push.
import { parseRef, type Ref } from '../directory/records.ts';
import { initiatorTypeOf } from '../ops/log/initiator.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';

export interface LastWrites {
  /** Time of the newest write of the user or of a membership, Unix milliseconds; undefined: the log has none. */
  newestAt?: number;
  /** Time of the write that applied the last push; undefined: the log has none, for example because the push changed nothing. */
  ofPushAt?: number;
}

/** Largest number of log entries that are read; older writes are not found. */
const MOST_ENTRIES = 10_000;
/**
 * Largest difference between two times of one push. A process sets the time of the record by its own clock; the time of
 * acceptance comes from the clock of Redis.
 */
const SAME_PUSH_MS = 1000;

/** Yields the newest entries of the provisioning log, newest first. */
export async function* newestEntries({ log }: Pick<ReconcileScope['outbox'], 'log'>) {
  let seen = 0;
  for await (const portion of log.newest()) {
    yield* portion;
    seen += portion.length;
    if (seen >= MOST_ENTRIES) return;
  }
}

/**
 * Searches the log from its newest entry for the writes of a user.
 * @param pushedAt time of the last push, Unix milliseconds; entries before it end the search once the newest write is found
 */
export async function lastWrites(
  { outbox }: Pick<ReconcileScope, 'outbox'>,
  ref: Ref,
  pushedAt: number,
): Promise<LastWrites> {
  const { id } = parseRef(ref);
  const found: LastWrites = {};
  for await (const entry of newestEntries(outbox)) {
    // The newest write is known, and all older entries are from before the push.
    if (found.newestAt !== undefined && entry.at < pushedAt) return found;
    // A failed or skipped attempt wrote nothing.
    if (entry.status !== 'success') continue;
    const isOwn = entry.ref === ref;
    if (isOwn || entry.members?.includes(id)) found.newestAt ??= entry.at;
    const isPush = initiatorTypeOf(entry.request) === 'identityProvider';
    // The two times of a push come from two clocks. An order that was accepted within a second after the push is another
    // change, so it gets no tolerance.
    const wasAcceptedByThen = entry.accepted <= pushedAt + (isPush ? SAME_PUSH_MS : 0);
    // A sync writes the newest record. So a sync that was ordered before the push, and ran after it, has written the push. Its
    // entry counts as the write of the push.
    if (isOwn && entry.at >= pushedAt && wasAcceptedByThen) return { ...found, ofPushAt: entry.at };
  }
  return found;
}
