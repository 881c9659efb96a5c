// Adds to the report of a sync or a dry run that the account of the person is gone at the platform, and why no other one is made.
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { NEWLY_LINKED } from '../../reconcile/entry.ts';
import type { SyncEnd } from './sync-outcome.ts';

/**
 * Returns the report with the reason why no account is made in place of the missing one: none is wanted (the person left), another
 * account has the name, or the policy of the target forbids it. A report that has a message stays as it is, and so does one of a
 * sync that makes or links another account. A dry run gets only the first of these reasons.
 * @param look the comparison before the sync; null: the platform was not read
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
