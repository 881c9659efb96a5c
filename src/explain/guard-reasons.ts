// Formats the held and decided changes of a resource as sentences. Pure.
import type { DestructiveKind } from '../guard/judge.ts';
import { membershipIn, waitsText } from '../reconcile/unwritten/behind-closing.ts';
import { counted } from '../support/counted.ts';
import type { ExplainedFacts, MembershipState } from './explanation.ts';
import { capital, MOST_NAMED, someOf } from '../support/sentence-parts.ts';

/** Name of one change of each kind; the words for removed members depend on the resource. */
const GUARD_WORDS: Record<Exclude<DestructiveKind, 'removeMembers'>, string> = {
  deactivate: 'deactivation',
  delete: 'deletion',
  clearAttributes: 'cleared attribute',
};

/** Returns a number of changes in words, such as `2 removals from groups`. */
function guardText(count: number, change: DestructiveKind, kind: ExplainedFacts['kind']): string {
  if (change !== 'removeMembers') return counted(count, GUARD_WORDS[change]);
  return kind === 'User'
    ? counted(count, 'removal from a group', 'removals from groups')
    : counted(count, 'removal of a member', 'removals of members');
}

function countsOf(changes: ExplainedFacts['guard'], resource: ExplainedFacts['kind']): string[] {
  const counts = new Map<DestructiveKind, number>();
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => guardText(count, kind, resource));
}

/** Returns a sentence for each state, with the numbers of its changes. */
export const guardReasons = ({ guard, kind }: ExplainedFacts): string[] =>
  (['held', 'expired', 'approved', 'rejected'] as const).flatMap((state) => {
    const words = countsOf(
      guard.filter((each) => each.state === state),
      kind,
    );
    return words.length === 0 ? [] : [`${capital(state)}, of what the guard judged: ${words.join(', ')}.`];
  });

/** Returns a sentence about the end of the approval of changes that are not written yet; undefined: there are none. */
export function approvalEndReason({ guard }: ExplainedFacts): string | undefined {
  const ends = guard.flatMap(({ until }) => until ?? []).sort();
  return ends[0] === undefined
    ? undefined
    : `The approval ends ${ends[0]}: the guard judges anew what is not written by then, and may hold it again.`;
}

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
  const tellsExpired = approvalExpired !== null;
  const held = memberships.filter(
    ({ condition: reason, isExpired = false }) => reason === 'Held' && isExpired === tellsExpired,
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
  const toldState = tellsExpired ? 'expired' : 'held';
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
  const others = new Set(own.filter((each) => each !== 'removeMembers').map((each) => GUARD_WORDS[each]));
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

/**
 * Returns a sentence about the deletion of a leaver's account after its deactivation, which is held or was rejected; undefined: no
 * such deactivation, or the settings delete no account.
 */
export function deletionReason({ guard, inScope, policy, stored }: ExplainedFacts): string | undefined {
  const isLeaver = stored === null || inScope === false;
  const closing = guard.find(({ kind, state }) => kind === 'deactivate' && state !== 'approved');
  // Only the policy `sync` deletes accounts.
  if (!closing || !isLeaver || policy.deprovision !== 'delete' || policy.policy !== 'sync') return undefined;
  if (closing.state === 'rejected')
    return 'The account is not deleted either, although users.deprovision is delete.';
  return 'The account is deleted after its deactivation, because users.deprovision is delete: an approval of the deactivation does not cover the deletion, which guard.delete limits.';
}

/**
 * Returns a sentence about a held or rejected deactivation; undefined: nothing waits for it. Of a held one: which values and
 * memberships of the person wait for the decision. Of a rejected one: which memberships are not added.
 */
export function waitingReason({ guard, inScope, memberships, values }: ExplainedFacts): string | undefined {
  const closing = guard.find(({ kind, state }) => kind === 'deactivate' && state !== 'approved');
  // A person out of scope gets no values and memberships that could wait.
  if (!inScope || !closing) return undefined;
  const differing = values.filter(({ name, state }) => state === 'differs' && name.startsWith('attributes.'));
  // A membership with a condition does not wait for the deactivation.
  const joined = memberships
    .filter(({ state, condition }) => state === 'toAdd' && condition === undefined)
    .map(({ name }) => membershipIn(name));
  if (closing.state === 'rejected')
    return joined.length === 0
      ? undefined
      : `Not added while the source wants the account inactive and the rejection stands: ${someOf(joined)}.`;
  const names = [...differing.map(({ name }) => name.slice('attributes.'.length)), ...joined];
  return names.length === 0 ? undefined : `${capital(waitsText(names))}.`;
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

/** Returns a sentence about a held or rejected deactivation that source and settings no longer ask for; undefined: none. */
export function noLongerWanted({
  guard,
  inScope,
  kind,
  mark,
  ref,
  stored,
}: ExplainedFacts): string | undefined {
  const isUndecided = guard.some((each) => each.kind === 'deactivate' && each.state !== 'approved');
  if (kind !== 'User' || !isUndecided || !stored || stored.active === false || !inScope) return undefined;
  const run = mark ? 'the pending sync' : `the next reconcile that repairs, or scim-bridge sync ${ref},`;
  return `By the source and the present settings the account stays active: ${run} ends what waits for a decision.`;
}

/**
 * Returns who made held or rejected changes of a person at the platform. After a restore, the bridge does not know its writes since
 * the backup. Not used for members of a group: the bridge may never have added a member who is missing there.
 */
export const doneBy = ({ restored }: Pick<ExplainedFacts, 'restored'>): string =>
  restored ? `by others, or by the bridge between ${restored.backup} and the restore` : 'by hand';

/**
 * Returns whether somebody made every held and rejected change of the resource at the platform, so that no decision is awaited.
 * False for a group with other members that are still to be added or removed.
 */
export function isDoneByHand({ kind, memberships, platform, guard }: ExplainedFacts): boolean {
  const undone = guard.filter(({ state }) => state !== 'approved').length;
  const isPending = ({ state }: (typeof memberships)[number]): boolean =>
    state === 'toAdd' || state === 'toRemove';
  const hasOthers = kind === 'Group' && memberships.some(isPending);
  return platform !== null && platform.done > 0 && platform.done >= undone && !hasOthers;
}

/** Returns the summary of a resource whose held and rejected changes somebody made at the platform. */
export function doneByHandSummary(facts: ExplainedFacts): string {
  const { guard, kind, name, ref, target } = facts;
  const waiting = guard.filter(({ state }) => state !== 'approved');
  const isOne = waiting.length === 1;
  const which = waiting.every(({ state }) => state === 'rejected')
    ? 'which a person rejected'
    : `which ${isOne ? 'waits' : 'wait'} for a decision`;
  const done =
    kind === 'User'
      ? `${isOne ? 'was' : 'were'} made there ${doneBy(facts)}`
      : `${isOne ? 'is' : 'are'} done there already`;
  return `${name} is at ${target} as the source wants it: ${countsOf(waiting, kind).join(' and ')}, ${which}, ${done}. The next reconcile, or scim-bridge sync ${ref}, takes ${isOne ? 'it' : 'them'} off the list.`;
}

/** Returns a sentence with the number of held and rejected changes that somebody made at the platform, if others are left. */
export function partlyDone(facts: ExplainedFacts): string | undefined {
  const done = facts.platform?.done ?? 0;
  if (done === 0 || isDoneByHand(facts)) return undefined;
  const by = facts.kind === 'User' ? `, ${doneBy(facts)}` : '';
  return `${counted(done, 'change')} of these ${done === 1 ? 'is' : 'are'} done at the platform already${by}: the next reconcile, or scim-bridge sync ${facts.ref}, takes ${done === 1 ? 'it' : 'them'} off the list.`;
}

/** Returns a sentence with the groups that the person is not in, although the removal from them is pending, held or rejected. */
export function leftReason({ leftByHand, platform }: ExplainedFacts): string | undefined {
  if (leftByHand.length === 0) return undefined;
  if (platform?.accountGone)
    return `Nothing is left to remove from ${someOf(leftByHand)}: the membership ended with the account.`;
  return `At the platform it is not in ${someOf(leftByHand)}: the next reconcile takes ${leftByHand.length === 1 ? 'this removal' : 'these removals'} off the list of what waits or was rejected.`;
}
