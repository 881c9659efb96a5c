// Holds and releases all writes to targets by order of an operator. Pushes are still accepted during a hold.
import { holdAdvice, isTenantHold } from '../directory/guard/operator-hold.ts';
import type { Act, Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { GuardStore } from '../directory/guard/guard-store.ts';

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
