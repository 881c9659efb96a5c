// Marks all resources of targets by order of an operator, so that each one is synced again.
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { refOf, type Ref } from '../directory/records.ts';

/**
 * Marks all resources; a sync writes only differences.
 * @param only the target; undefined: all targets
 * @returns number of users and groups that were marked at one target or more, also of deleted users whose account is still linked
 */
export async function resync(
  states: readonly DesiredState[],
  only: string | undefined,
  actor: Actor,
): Promise<number> {
  let marked = 0;
  for (const { directory, links, outboxes, acts } of states) {
    const chosen = [...outboxes.values()].filter(({ target }) => only === undefined || target === only);
    const departed = new Set<Ref>();
    for (const { target } of chosen) await acts.record({ act: 'resync', ...actor, target });
    // Deleted users are marked too: their accounts may be due for deletion.
    for (const outbox of chosen) {
      for await (const { ref, link } of links.all(outbox.target)) {
        if (!link.departed) continue;
        await outbox.mark([ref], 'reconcile', 'resync');
        departed.add(ref);
      }
    }
    // Without a chosen target the directory is not read.
    for (const kind of chosen.length === 0 ? [] : (['User', 'Group'] as const)) {
      for await (const records of directory.scan(kind)) {
        const refs = records.map(({ id }) => refOf(kind, id));
        for (const outbox of chosen) await outbox.mark(refs, 'reconcile', 'resync');
        marked += refs.length;
        // A person out of scope is departed and still has a record.
        for (const ref of refs) departed.delete(ref);
      }
    }
    marked += departed.size;
  }
  return marked;
}
