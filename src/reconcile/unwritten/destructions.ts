// Converts entries of a plan that take something away to the form in which the guard counts, holds and approves changes.
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { storedNameOf } from '../../directory/member-names.ts';
import { guardKindOf, isChange, type PlanEntry } from '../entry.ts';

/** Returns the change for which the guard is asked first, in its form: an open account is closed before it is deleted. */
export function firstDestruction(entry: PlanEntry): Destruction | undefined {
  const item = toDestruction(entry);
  return item && isOpenAccount(entry) ? { kind: 'deactivate', ref: item.ref } : item;
}

/** Returns the change in the form of the guard; undefined for a change that takes nothing away. */
export function toDestruction(entry: PlanEntry): Destruction | undefined {
  const kind = guardKindOf(entry.action);
  const { ref, attribute, member } = entry;
  if (!kind || !ref || !isChange(entry)) return undefined;
  if (kind === 'clearAttributes')
    return attribute === undefined ? undefined : { kind, ref, subject: attribute };
  if (kind !== 'removeMembers') return { kind, ref };
  return member && { kind, ref, subject: storedNameOf(member) };
}

/** Returns whether the entry deletes an account that has to be deactivated before. */
export const isOpenAccount = ({ action, kind, before }: PlanEntry): boolean =>
  action === 'delete' && kind === 'User' && before?.active === true;
