// Reports after the sync of a person that the platform does not have the account any more.
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { NEWLY_LINKED } from '../../reconcile/entry.ts';
import type { SyncEnd } from './sync-outcome.ts';

/**
 * Adds to a report without a message that the account is gone. Either no account is wanted, because the person left, or the sync
 * made none anew: another account has its name, or the policy of the target forbids it. A dry run lists the latter as differences.
 */
export function withGone(end: SyncEnd, look: ComparedOne | null): SyncEnd {
  if (end.message !== undefined || !look?.isGone) return end;
  if (look.entries.length === 0)
    return { ...end, message: 'the account is gone at the platform, and none is wanted there' };
  const unmade = look.entries.find(
    ({ action, kind, effect, attribute }) =>
      kind === 'User' &&
      attribute === undefined &&
      (action === 'conflict' || (NEWLY_LINKED.has(action) && effect === 'report')),
  );
  if (!unmade || end.outcome === undefined) return end;
  return unmade.action === 'conflict'
    ? { outcome: 'needsPerson', message: unmade.reason }
    : { ...end, message: `${unmade.reason}, so no account is made anew` };
}
