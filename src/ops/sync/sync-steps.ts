// Collects the log entries that a sync of a resource and its members writes, for the command sync.
import { parseRef, type Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { readLog, type LocatedEntry } from '../log/provisioning-log.ts';

/**
 * Collects the log entries of some resources in the order in which they are written.
 * @returns `start` sets the beginning, without which the whole log is read; `read` adds the new entries to `reported` and calls
 *   `onStep` for each
 */
export function createSteps(
  { connection, target, outbox }: ReconcileScope,
  refs: readonly Ref[],
  onStep?: (step: LocatedEntry) => void,
) {
  const logs = [{ connection, outboxes: new Map([[target.name, outbox]]) }];
  const reported: LocatedEntry[] = [];
  /** Id of the newest entry that was read; undefined: the log was empty. */
  let last: string | undefined;
  async function read(): Promise<void> {
    const fresh: LocatedEntry[] = [];
    let newest: string | undefined;
    // The newest entry comes first.
    for await (const entry of readLog(logs)) {
      newest ??= entry.id;
      if (entry.id === last) break;
      if (refs.some((ref) => entry.ref === ref || entry.members?.includes(parseRef(ref).id)))
        fresh.unshift(entry);
    }
    last = newest ?? last;
    reported.push(...fresh);
    for (const entry of fresh) onStep?.(entry);
  }
  return {
    reported,
    read,
    start: async () => {
      last = await outbox.log.newestId();
    },
  };
}
