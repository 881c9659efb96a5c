// Finds what the sync of a user does not write while the value of an attribute cannot be mapped: it ends before the
// activation, and no group adds the user. Pure.
import type { Ref } from '../directory/records.ts';
import { isChange, type PlanEntry } from './entry.ts';

/** End of the reason of an entry that waits for a value. */
export const WAITS_FOR_VALUE = 'waits for the value that cannot be mapped';

/**
 * Returns the entries; those that activate these users or add them to a group only have the effect `report`. The conflict of
 * such a user says what waits.
 * @param refs users with a value that cannot be mapped
 */
export function withoutUnmappable(entries: PlanEntry[], refs: ReadonlySet<Ref>): PlanEntry[] {
  if (refs.size === 0) return entries;
  const waiting = new Map<Ref, Set<string>>();
  const found = entries.map((entry): PlanEntry => {
    const { action, member, reason } = entry;
    const ref = member ? member.ref : entry.ref;
    if (!ref || !refs.has(ref) || !isChange(entry)) return entry;
    // The account is created, but inactive (plan-users.ts).
    const isCreated = reason.endsWith(WAITS_FOR_VALUE);
    if (!isCreated && action !== 'reactivate' && action !== 'addMember') return entry;
    const what = action === 'addMember' ? 'memberships wait' : 'activation waits';
    waiting.set(ref, (waiting.get(ref) ?? new Set<string>()).add(what));
    return isCreated ? entry : { ...entry, effect: 'report', reason: `${reason}; ${WAITS_FOR_VALUE}` };
  });
  return found.map((entry) => {
    const parts = entry.action === 'conflict' && entry.ref ? waiting.get(entry.ref) : undefined;
    if (!parts) return entry;
    const words = parts.size === 2 ? 'activation and memberships wait' : [...parts].join('');
    return { ...entry, reason: `${entry.reason}; ${words} for the value` };
  });
}
