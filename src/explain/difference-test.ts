// Decides which plan entries are differences of a person or group that is explained.
import type { Ref } from '../directory/records.ts';
import { isRename } from '../reconcile/compare/group-names.ts';
import { isChange, NEWLY_LINKED, type PlanEntry } from '../reconcile/entry.ts';

/**
 * Returns a test of whether an entry is a difference of the looked-up resource. A change (`isChange`) is one, unless it belongs to
 * another resource that the same sync writes. A conflict, which no run writes, is one too, unless the stored condition of the
 * resource tells it already.
 * @param isGone whether the platform does not have the linked account of a person any more
 */
export function differenceTest(ref: Ref, isGone: boolean): (entry: PlanEntry) => boolean {
  const isPerson = ref.startsWith('User:');
  // A pending new name of a group is no difference of the person: the list of memberships tells it (memberships-of-user.ts).
  const isOnItsWay = (entry: PlanEntry): boolean =>
    isPerson && isRename(entry) && entry.attribution.cause === 'source changed';
  // For a group: an entry about the account of a member, or about a definition for its values, is no difference of the group. The
  // entry of the membership tells that an account is gone.
  const isOfMember = ({ kind, action }: PlanEntry): boolean =>
    !isPerson && (kind === 'User' || action === 'defineAttribute');
  // The person is wanted and the account is gone: a run makes or links another one (NEWLY_LINKED), or a conflict prevents that.
  const isUnmade = ({ action, kind, attribute }: PlanEntry): boolean =>
    isGone &&
    kind === 'User' &&
    attribute === undefined &&
    (action === 'conflict' || NEWLY_LINKED.has(action));
  // An entry about another resource of the same kind. A sync that makes the account of a member anew adds the member to other
  // groups too; the sync of a person also renames the account of another person who has the userName.
  const isOfOther = (entry: PlanEntry): boolean =>
    entry.kind === (isPerson ? 'User' : 'Group') && entry.ref !== ref;
  // A group of the person is gone, and no run makes or links another one.
  const isGroupConflict = ({ action, kind }: PlanEntry): boolean =>
    isPerson && action === 'conflict' && kind === 'Group';
  // Of a value only: a conflict of the whole resource is no difference here, because its stored condition tells it.
  const isValueConflict = (entry: PlanEntry): boolean =>
    entry.action === 'conflict' && entry.attribute !== undefined && !isOfMember(entry);
  // For a group: without the account of a member there is no membership.
  const isMemberConflict = (entry: PlanEntry): boolean =>
    entry.action === 'conflict' && entry.attribute === undefined && isOfMember(entry);
  return (entry) =>
    (isChange(entry) && !isOnItsWay(entry) && !isOfMember(entry) && !isOfOther(entry)) ||
    isUnmade(entry) ||
    isGroupConflict(entry) ||
    isValueConflict(entry) ||
    isMemberConflict(entry);
}
