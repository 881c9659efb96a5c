// Lists the resources whose changes are not applied yet, at each target, with their names.
import type { DesiredState } from '../../directory/desired-state.ts';
import { readRecordNames } from '../../directory/resources/record-names.ts';
import { parseRef, type Kind, type Priority, type Ref } from '../../directory/records.ts';
import { isoTime } from '../../support/sources.ts';

/** A resource whose change is not applied at a target yet. */
interface Waiting {
  connection: string;
  target: string;
  ref: Ref;
  kind: Kind;
  /** userName or displayName; the id of a deleted resource. */
  name: string;
  /** When the oldest change that is not applied was accepted, ISO 8601. */
  since: string;
  /** Null: not known, because the job was lost. */
  priority: Priority | null;
  /** `due`: not yet in the queue; `running`: a worker has it. */
  state: 'due' | 'queued' | 'running';
  /** Time at which the change goes to the queue, ISO 8601; null: it is in the queue already, or a worker has it. */
  nextTry: string | null;
}

export interface WaitingFilter {
  target?: string | undefined;
  offset?: number | undefined;
  limit: number;
}

/** Returns one page, sorted by connection, then by target, then by the order of the syncs. */
export async function listWaiting(
  states: readonly DesiredState[],
  { target: only, offset = 0, limit }: WaitingFilter,
): Promise<Waiting[]> {
  const found: Waiting[] = [];
  let skip = offset;
  for (const { connection, directory, outboxes } of states) {
    for (const [target, outbox] of outboxes) {
      if (only !== undefined && target !== only) continue;
      const page = await outbox.waiting({ offset: skip, limit: limit - found.length });
      const names = await readRecordNames(
        directory,
        page.map(({ ref }) => ref),
      );
      for (const { ref, since, dueAt, priority, state } of page) {
        const { kind, id } = parseRef(ref);
        found.push({
          connection,
          target,
          ref,
          kind,
          name: names.get(ref) ?? id,
          priority,
          state,
          since: isoTime(since),
          nextTry: dueAt === null ? null : isoTime(dueAt),
        });
      }
      if (found.length >= limit) return found;
      // An empty page: the offset is past this target, and the next target skips the rest of it.
      skip = page.length > 0 ? 0 : Math.max(0, skip - (await outbox.countWaiting()));
    }
  }
  return found;
}
