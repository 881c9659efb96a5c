// Marks all resources of targets by order of an operator, so that each one is synced again.
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import { refOf, type Ref } from '../directory/records.ts';

/**
 * Marks all resources, except those whose dead letters were dropped; a sync writes only differences.
 * @param only the target; undefined: all targets
 * @returns `count`: number of users and groups that were marked at one target or more, also of deleted users whose account is still
 * linked; `dropped`: number of dropped dead letters that were left out
 */
export async function resync(
  states: readonly DesiredState[],
  only: string | undefined,
  actor: Actor,
): Promise<{ count: number; dropped: number }> {
  let count = 0;
  let dropped = 0;
  for (const { directory, links, outboxes, acts } of states) {
    const chosen = [...outboxes.values()].filter(({ target }) => only === undefined || target === only);
    const leftOut = new Map<Outbox, ReadonlySet<Ref>>();
    for (const outbox of chosen) {
      await acts.record({ act: 'resync', ...actor, target: outbox.target });
      leftOut.set(outbox, await outbox.dropped());
    }
    const mark = async (outbox: Outbox, refs: readonly Ref[], marked: Set<Ref>): Promise<void> => {
      const meant = refs.filter((ref) => !leftOut.get(outbox)?.has(ref));
      await outbox.mark(meant, 'reconcile', 'resync');
      for (const ref of meant) marked.add(ref);
    };
    // Deleted users are marked too: their accounts may be due for deletion.
    const departed = new Set<Ref>();
    for (const outbox of chosen) {
      for await (const { ref, link } of links.all(outbox.target))
        if (link.departed) await mark(outbox, [ref], departed);
    }
    // Without a chosen target the directory is not read.
    for (const kind of chosen.length === 0 ? [] : (['User', 'Group'] as const)) {
      for await (const records of directory.scan(kind)) {
        const refs = records.map(({ id }) => refOf(kind, id));
        const marked = new Set<Ref>();
        for (const outbox of chosen) await mark(outbox, refs, marked);
        count += marked.size;
        // A person out of scope is departed and still has a record.
        for (const ref of refs) departed.delete(ref);
      }
    }
    count += departed.size;
    for (const refs of leftOut.values()) dropped += refs.size;
  }
  return { count, dropped };
}
