// Formats as sentences the approvals that hold changes of a resource, and the decisions about them: approvals that are in force,
// first approvals of two, and rejections. Each sentence about something to decide ends with the command for it. Pure.
import type { DestructiveKind } from '../guard/judge.ts';
import { counted } from '../support/counted.ts';
import { MOST_NAMED, someOf } from '../support/sentence-parts.ts';
import type { ExplainedFacts, MembershipState } from './explanation.ts';
import { GUARD_WORDS } from './guard-words.ts';

/**
 * Returns a sentence about the changes that an approval holds, with its id, or about those whose approval has expired; undefined:
 * there are none, or other sentences tell of them.
 */
export function approvalReason({
  approval,
  approvalExpired,
  condition,
  guard,
  kind,
  memberships,
}: ExplainedFacts): string | undefined {
  // Changes with an expired approval are named only if a person can decide none of the others.
  const toldState = approvalExpired === null ? 'held' : 'expired';
  const held = memberships.filter(
    ({ condition: reason, isExpired = false }) =>
      reason === 'Held' && (isExpired ? 'expired' : 'held') === toldState,
  );
  // In a group, a removal has the condition `Held` only if the deactivation of the member is held (members-of-group.ts).
  const isFollowing = ({ state }: MembershipState): boolean => kind === 'Group' && state === 'toRemove';
  const following = held.filter(isFollowing).map(({ name }) => name);
  // A deleted group and a new one may have the same name, so their refs tell them apart.
  const isShared = ({ name }: MembershipState): boolean =>
    held.filter((each) => each.name === name).length > 1;
  const waiting = held
    .filter((each) => !isFollowing(each))
    .map((each) => (isShared(each) ? `${each.name} (${each.ref})` : each.name));
  // There is no id of an approval to name. If the resource has a condition, its sentence tells that a change is held.
  if (approval === null && approvalExpired === null)
    return !condition && waiting.length > 0
      ? 'The guard holds changes of a group: see scim-bridge approvals list, then approve or reject.'
      : undefined;
  const own = guard.filter(({ state }) => state === toldState).map((each) => each.kind);
  const parts = heldParts(kind, { own, following, waiting });
  // Other sentences tell that the held changes are already made.
  if (parts.length === 0) return undefined;
  if (approvalExpired !== null)
    return `${approval === null ? 'A former approval held' : `The approval ${approval} holds`} ${parts.join(' and ')}. ${approvalExpired}`;
  return `The approval ${approval} holds ${parts.join(' and ')}: scim-bridge approvals show ${approval}, then approve or reject.`;
}

/**
 * Returns the changes that an approval holds, as parts of a sentence.
 * @param changes.own kinds of the changes of the resource itself
 * @param changes.following names of the members who leave a group with their accounts
 * @param changes.waiting names of the groups or members whose changes are held
 */
function heldParts(
  kind: ExplainedFacts['kind'],
  { own, following, waiting }: { own: DestructiveKind[]; following: string[]; waiting: string[] },
): string[] {
  const removed = own.filter((each) => each === 'removeMembers').length;
  const cleared = own.filter((each) => each === 'clearAttributes').length;
  const others = new Set(
    own
      .filter((each) => each !== 'removeMembers')
      .map((each) =>
        each === 'clearAttributes' && cleared > 1
          ? counted(cleared, GUARD_WORDS.clearAttributes)
          : GUARD_WORDS[each],
      ),
  );
  const related = `${kind === 'User' ? 'group' : 'member'}${waiting.length === 1 ? '' : 's'}`;
  return [
    ...(others.size > 0 ? [`its ${[...others].join(' and ')}`] : []),
    ...(removed > 0
      ? [
          kind === 'User'
            ? `its removal from ${counted(removed, 'group')}`
            : `the removal of ${counted(removed, 'member')}`,
        ]
      : []),
    ...(following.length > 0
      ? [
          `the deactivation of its ${following.length === 1 ? 'member' : 'members'} ${someOf(following)}, who ${following.length === 1 ? 'leaves' : 'leave'} with the account`,
        ]
      : []),
    ...(waiting.length > 0 ? [`changes of its ${related} ${someOf(waiting)}`] : []),
  ];
}

/** Returns a sentence about the end of the approval of changes that are not written yet; undefined: there are none. */
export function approvalEndReason({ guard }: ExplainedFacts): string | undefined {
  const ends = guard.flatMap(({ until }) => until ?? []).sort();
  return ends[0] === undefined
    ? undefined
    : `The approval ends ${ends[0]}: the guard judges anew what is not written by then, and may hold it again.`;
}

/** Returns a sentence for each first approval, which counts only when a second person approves too. */
export const firstApprovalReasons = ({ firstApprovals }: ExplainedFacts): string[] =>
  firstApprovals.map(
    ({ id, by, at, total }) =>
      `${by} approved ${counted(total, 'change')} at ${at}: a second person approves with scim-bridge approvals approve ${id}.`,
  );

/**
 * Returns a sentence for each rejection, with the command that withdraws it. The command is left out where the advice of the
 * condition names it.
 */
export function rejectionReasons({ condition, kind, ref, rejections }: ExplainedFacts): string[] {
  const shown = rejections.slice(0, MOST_NAMED).map((each) => {
    const what =
      each.group === null
        ? `changes of ${kind === 'User' ? 'this person' : 'this group'}`
        : `its removal from ${each.group}`;
    const decided = `${each.by} rejected ${what} at ${each.at}`;
    if (each.group === null && condition?.reason === 'Rejected') return `${decided}.`;
    const part = each.group === null ? '' : ` --person ${ref}`;
    return `${decided}: scim-bridge approvals withdraw ${each.id} --ref ${each.ref}${part} takes it back.`;
  });
  const left = rejections.length - shown.length;
  return left > 0
    ? [...shown, `${counted(left, 'rejection')} more: see scim-bridge approvals list --all.`]
    : shown;
}
