// Holds and releases all writes to targets. Pushes are still accepted during a hold.
import type { Act, Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { GuardStore } from '../directory/guard/guard-store.ts';

export interface HoldChange {
  connection: string;
  target: string;
  /** False when the state did not change. */
  changed: boolean;
}

/** Stops all writes to targets. @param target undefined: all targets */
export const holdTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
  actor: Actor,
): Promise<HoldChange[]> =>
  applyOrder(states, target, { act: 'hold', ...actor }, async (guardStore, record) => {
    if (await guardStore.onHold()) return false;
    await record();
    return guardStore.hold(actor.by, actor.note);
  });

/** Ends the hold of targets. @param target undefined: all targets */
export const releaseTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
  actor: Actor,
): Promise<HoldChange[]> =>
  applyOrder(states, target, { act: 'release', ...actor }, async (guardStore, record) => {
    if (!(await guardStore.onHold())) return false;
    await record();
    return guardStore.release();
  });

/**
 * Runs an order for each chosen target.
 * @param run returns whether the state changed; it calls `record` before its first change, so that a crash in between does
 * not lose the audit entry
 */
async function applyOrder(
  states: readonly DesiredState[],
  only: string | undefined,
  order: Act,
  run: (guardStore: GuardStore, record: () => Promise<void>) => Promise<boolean>,
): Promise<HoldChange[]> {
  const changes: HoldChange[] = [];
  for (const { connection, outboxes, acts } of states) {
    for (const [target, { guardStore }] of outboxes) {
      if (only !== undefined && target !== only) continue;
      const changed = await run(guardStore, () => acts.record({ ...order, target }));
      changes.push({ connection, target, changed });
    }
  }
  return changes;
}
