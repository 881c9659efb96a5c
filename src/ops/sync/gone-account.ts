// Reports after the sync of a person that the platform does not have the account any more.
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { NEWLY_LINKED } from '../../reconcile/entry.ts';
import type { SyncEnd } from './sync-outcome.ts';

/**
 * If the account of the person is gone at the platform, returns the report with a message that says so; a report that has a message
 * stays as it is. No account was made anew because none is wanted (the person left), another account has its name, or the policy of
 * the target forbids it.
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
  // A dry run has no outcome; its differences already list the account that is not made.
  if (!unmade || end.outcome === undefined) return end;
  return unmade.action === 'conflict'
    ? { outcome: 'needsPerson', message: unmade.reason }
    : { ...end, message: `${unmade.reason}, so no account is made anew` };
}
