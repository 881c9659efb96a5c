// Decides whether a change of a saved plan is already made: the resource was verified again, and none of its present differences is
// about the same part of it.
import { storedNameOf } from '../../directory/member-names.ts';
import type { Ref } from '../../directory/records.ts';
import type { VerifiedResource } from '../compare/verified.ts';
import type { PlanEntry } from '../entry.ts';

/**
 * Returns whether the change of an entry is already made: the record has the version of the plan, and the platform no longer
 * differs there. The version of a follower (an entry with `follows`, entry.ts) is not compared, because its basis is that of the
 * resource that it follows.
 */
export function isCarriedOut(entry: PlanEntry, verified: ReadonlyMap<Ref, VerifiedResource>): boolean {
  const found = entry.ref === null ? undefined : verified.get(entry.ref);
  // The resource or its value could not be read, so nothing proves that the change is made.
  if (found?.version === undefined || (found.areValuesUnread && entry.attribute !== undefined)) return false;
  if (entry.follows === undefined && found.version !== entry.basis.version) return false;
  // The account of the member was not read, so nothing proves that the removal is made.
  if (entry.member && found.leaversUndecided?.has(storedNameOf(entry.member))) return false;
  // The removal of an unmanaged member is pending, held or rejected, so it is not made although it has no entry.
  if (entry.member?.ref === null && found.unmanagedLeavers?.has(entry.member.platformId ?? '')) return false;
  return !found.entries.some((other) => concernsSame(entry, other));
}

/** Actions that make, link or remove the whole resource. */
const WHOLE: ReadonlySet<PlanEntry['action']> = new Set(['create', 'adopt', 'relink', 'delete']);

/** Returns whether a present difference is about the part of the resource that the entry of the plan changes. */
function concernsSame(entry: PlanEntry, other: PlanEntry): boolean {
  if (other.action === 'unmanaged') return false;
  // A conflict with desired values is about the whole account or group: it cannot be made, adopted or linked anew. One without is
  // an attribute that cannot be mapped, and the plan has no entry for its value.
  if (other.action === 'conflict') return other.after !== null;
  if (WHOLE.has(other.action) || partOf(other) === partOf(entry)) return true;
  // A change of the whole resource is not made while anything of it but a membership differs: memberships have entries of their
  // own.
  return WHOLE.has(entry.action) && other.member === undefined;
}

/** Returns the part of the resource that an entry changes: a member, an attribute, the activity or the names. */
function partOf({ action, attribute, member }: PlanEntry): string {
  if (member) return `member ${member.ref ?? member.platformId ?? ''}`;
  if (attribute !== undefined) return `attribute ${attribute}`;
  return action === 'deactivate' || action === 'reactivate' ? 'active' : 'core';
}
