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
  { note, ...actor }: Actor & { note?: string | undefined },
): Promise<HoldChange[]> =>
  give(states, target, (guardStore) => guardStore.hold(actor.by, note), {
    ...{ act: 'hold', ...actor },
    ...(note === undefined ? {} : { note }),
  });

/** @param target undefined: all targets */
export const releaseTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
  { by, via }: Actor,
): Promise<HoldChange[]> =>
  give(states, target, (guardStore) => guardStore.release(), { act: 'release', by, via });

async function give(
  states: readonly DesiredState[],
  chosen: string | undefined,
  run: (guardStore: GuardStore) => Promise<boolean>,
  order: Act,
): Promise<HoldChange[]> {
  const changes: HoldChange[] = [];
  for (const { connection, outboxes, acts } of states) {
    for (const [target, { guardStore }] of outboxes) {
      if (target !== (chosen ?? target)) continue;
      const changed = await run(guardStore);
      if (changed) await acts.record({ ...order, target });
      changes.push({ connection, target, changed });
    }
  }
  return changes;
}
