// Makes a plan for an operator; if the target gives no answer, throws an error that tells how it fails.
import type { PlanOptions } from './compare-all.ts';
import { makePlan } from './make-plan.ts';
import type { Plan } from '../plan.ts';
import type { ReconcileScope } from '../scope.ts';
import { throwIfSilent } from '../target-silent.ts';
import { whileAnswering } from '../while-answering.ts';

/**
 * Compares all users and groups of the scope with the platform while it answers.
 * @param tell called with a sentence about each longer wait for the rate limit
 * @throws TargetSilent when the target does not answer, refuses the key, or limits the rate for long
 */
export async function planWhileAnswering(
  scope: ReconcileScope,
  options: PlanOptions,
  tell: (text: string) => void,
): Promise<Plan> {
  const work = async (signal: AbortSignal): Promise<Plan> => {
    const { plan } = await makePlan(scope, { ...options, signal });
    // With few resources the attempts end before whileAnswering gives up.
    if (isOfNoAnswer(plan)) await throwIfSilent(scope);
    return plan;
  };
  return whileAnswering(scope, options.signal, work, tell);
}

/** Returns whether no page with a resource arrived, and neither list is proven to be empty. */
const isOfNoAnswer = ({ proof: { users, groups } }: Plan): boolean =>
  [users, groups].every(({ complete, seen }) => !complete && seen === 0);
