// Writes the audit entry of an operator who ordered a run.
import type { Act, Actor } from '../../directory/logs/acts.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Writes the audit entry of an order; the schedule (`orderedBy` undefined) gets none. Called before the run begins, so that a crash
 * does not lose the entry.
 */
export async function recordOrder(
  { acts, target }: ReconcileScope,
  act: 'reconcile' | 'apply',
  { orderedBy }: { orderedBy?: Actor | undefined },
  details: Pick<Act, 'subject' | 'count'>,
): Promise<void> {
  if (orderedBy) await acts.record({ act, ...orderedBy, target: target.name, ...details });
}
