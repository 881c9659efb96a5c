// Orders of operators for targets: hold and release all writes (pushes are still accepted during a hold), and resync, which marks
// all resources so that each one is synced again.
import { holdAdvice, isTenantHold } from '../directory/guard/operator-hold.ts';
import type { Act, Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { GuardStore } from '../directory/guard/guard-store.ts';
import { refOf, type Ref } from '../directory/records.ts';

interface HoldChange {
  connection: string;
  target: string;
  /** False when the state did not change. */
  changed: boolean;
  /** Why a release was refused, and how the hold ends; absent: it was not. */
  refused?: string;
}

/** Stops all writes to targets. @param target undefined: all targets */
export const holdTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
  actor: Actor,
): Promise<HoldChange[]> =>
  applyOrder(states, target, { act: 'hold', ...actor }, async (guardStore, record) => {
    const known = await guardStore.onHold();
    if (known && !isTenantHold(known)) return false;
    await record();
    return guardStore.hold(actor.by, actor.note);
  });

/**
 * Ends the hold of targets. A hold because of another tenant is not ended: the next reconcile would hold the target again.
 * @param target undefined: all targets
 */
export const releaseTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
  actor: Actor,
): Promise<HoldChange[]> =>
  applyOrder(states, target, { act: 'release', ...actor }, async (guardStore, record, name) => {
    let hold = await guardStore.onHold();
    if (!hold) return false;
    if (!isTenantHold(hold)) {
      // If a hold because of another tenant begins now, the order has no effect, and the audit entry stays.
      await record();
      if (await guardStore.release()) return true;
      hold = await guardStore.onHold();
    }
    // Only a hold because of another tenant is left after `release`; its note says why.
    return hold ? `stays on hold, ${hold.note ?? ''}. ${holdAdvice(name, hold)}.` : false;
  });

/**
 * Runs an order for each chosen target.
 * @param run returns whether the state changed, or why the order is refused; it calls `record` before its first change, so that a
 * crash in between does not lose the audit entry
 */
async function applyOrder(
  states: readonly DesiredState[],
  only: string | undefined,
  order: Act,
  run: (guardStore: GuardStore, record: () => Promise<void>, target: string) => Promise<boolean | string>,
): Promise<HoldChange[]> {
  const changes: HoldChange[] = [];
  for (const { connection, outboxes, acts } of states) {
    for (const [target, { guardStore }] of outboxes) {
      if (only !== undefined && target !== only) continue;
      const outcome = await run(guardStore, () => acts.record({ ...order, target }), target);
      const result =
        typeof outcome === 'string' ? { changed: false, refused: outcome } : { changed: outcome };
      changes.push({ connection, target, ...result });
    }
  }
  return changes;
}

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
