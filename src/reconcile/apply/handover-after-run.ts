// Hands over the items of closed accounts at the end of a run, if its outcome allows it.
import { withPart } from './make-report.ts';
import { handOver } from '../handover/hand-over.ts';
import type { Plan } from '../plan.ts';
import { handoverOptions, type HandoverOptions } from '../handover/handover-steps.ts';
import type { ReconcileScope } from '../scope.ts';
import type { End } from './ends.ts';

/** Outcomes after which items are handed over: each change of the plan was written, or waits for an operator. */
const HANDS_OVER = new Set<End['outcome']>(['converged', 'held', 'blocked']);

/**
 * Moves the items of closed accounts as the plan's handover says, and those of people who are active again back to their places.
 * @param options.id id of the run; its log entries name it
 * @returns the end of the run, with the result of the handover in its message
 */
export async function withHandover(
  scope: ReconcileScope,
  { handover }: Plan,
  end: End,
  { id, signal, logger }: Pick<HandoverOptions, 'signal' | 'logger'> & { id: string },
): Promise<End> {
  // After another outcome the accounts may not be in their end state.
  if (!handover || !HANDS_OVER.has(end.outcome)) return end;
  const options = handoverOptions(scope, { signal, logger, request: `plan:${id}` });
  const result = await handOver(scope, handover, options);
  // Undefined: no item had to be moved.
  return result === undefined ? end : { ...end, message: withPart(end.message, result) };
}
