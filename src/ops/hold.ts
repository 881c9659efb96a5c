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

/** @param target undefined: all targets */
export const holdTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
  actor: Actor,
): Promise<HoldChange[]> =>
  give(states, target, { act: 'hold', ...actor }, async (guardStore, record) => {
    if (await guardStore.onHold()) return false;
    await record();
    return guardStore.hold(actor.by, actor.note);
  });

/** @param target undefined: all targets */
export const releaseTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
  actor: Actor,
): Promise<HoldChange[]> =>
  give(states, target, { act: 'release', ...actor }, async (guardStore, record) => {
    if (!(await guardStore.onHold())) return false;
    await record();
    return guardStore.release();
  });

/** @param run calls `record` before its first change, so that a crash in between does not lose the audit entry */
async function give(
  states: readonly DesiredState[],
  only: string | undefined,
  order: Act,
  run: (guardStore: GuardStore, record: () => Promise<void>) => Promise<boolean>,
): Promise<HoldChange[]> {
  const given: HoldChange[] = [];
  for (const { connection, outboxes, acts } of states) {
    for (const [target, { guardStore }] of outboxes) {
      if (target !== (only ?? target)) continue;
      const changed = await run(guardStore, () => acts.record({ ...order, target }));
      given.push({ connection, target, changed });
    }
  }
  return given;
}
