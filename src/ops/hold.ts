// An operator's order that nothing is written to a target, and its end. What is pushed goes on being accepted.
import type { DesiredState } from '../directory/desired-state.ts';
import type { Staging } from '../directory/staging.ts';

export interface OrderGiven {
  connection: string;
  target: string;
  /** False when it was so already. */
  changed: boolean;
}

/** @param target undefined = all */
export const holdTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
  { by, note }: { by: string; note?: string | undefined },
): Promise<OrderGiven[]> => give(states, target, (staging) => staging.hold(by, note));

/** @param target undefined = all */
export const releaseTargets = (
  states: readonly DesiredState[],
  target: string | undefined,
): Promise<OrderGiven[]> => give(states, target, (staging) => staging.release());

async function give(
  states: readonly DesiredState[],
  chosen: string | undefined,
  run: (staging: Staging) => Promise<boolean>,
): Promise<OrderGiven[]> {
  const given: OrderGiven[] = [];
  for (const { connection, outboxes } of states) {
    for (const [target, { staging }] of outboxes) {
      if (target === (chosen ?? target)) given.push({ connection, target, changed: await run(staging) });
    }
  }
  return given;
}
