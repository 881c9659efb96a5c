// Converts the states of memberships and members to sentences: those that wait, that fail, and that are not written. Pure.
import type { ExplainedFacts, MembershipState } from './explanation.ts';
import { counted } from '../support/counted.ts';
import { isUnderFormerName } from './membership-causes.ts';
import { capital, someOf } from '../support/sentence-parts.ts';

/** Reasons of conditions that an operator or the settings caused on purpose. */
const LEFT_ALONE = new Set(['Rejected', 'Protected', 'OutOfScope', 'LeftByPolicy']);

/** Returns whether the platform or a conflict stops the other resource of a membership, so that a person has to look at it. */
export const needsPerson = ({ condition }: MembershipState): boolean =>
  condition !== undefined && condition !== 'Held' && !LEFT_ALONE.has(condition);

/** Returns a sentence with the numbers of memberships that wait; '' if there are none. */
export function membershipReason({ kind, memberships, members }: ExplainedFacts): string {
  const renamed = memberships.filter(isUnderFormerName).length;
  const waiting = (state: string): number =>
    memberships.filter((each) => each.state === state && !isUnderFormerName(each)).length;
  const noun = kind === 'User' ? 'group' : 'member';
  const parts = [
    [renamed, renamed === 1 ? 'to get its new name' : 'to get their new names'],
    [members?.toAdd ?? waiting('toAdd'), kind === 'User' ? 'to be joined' : 'to be added'],
    [members?.toRemove ?? waiting('toRemove'), kind === 'User' ? 'to be left' : 'to be removed'],
  ] as const;
  const said = parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${counted(count, noun)} still ${word}`)
    .join(', ');
  return said && `${capital(said)}.`;
}

/** Returns the first membership whose write fails and is retried; undefined: none. */
export const failingMembership = ({
  memberships,
}: Pick<ExplainedFacts, 'memberships'>): MembershipState | undefined =>
  memberships.find(({ triedSince }) => triedSince !== undefined);

export const TRIED_AGAIN = 'It is tried again; if it stays, ask the operator of the platform.';

/** Returns the group of a user, or the member of a group, with the cause why the membership waits. */
export const sideText = (kind: ExplainedFacts['kind'], { name, because }: MembershipState): string =>
  `${kind === 'User' ? 'group' : 'member'} ${name}: ${because ?? ''}`;

/** Returns a sentence about a membership that fails; '' if there is none, or the summary contains it. */
export function failingReason({ kind, memberships }: ExplainedFacts, summary: string): string {
  const failing = failingMembership({ memberships });
  if (!failing || summary.includes(sideText(kind, failing))) return '';
  return `A membership has failed since ${failing.triedSince ?? ''}: ${sideText(kind, failing)}. ${TRIED_AGAIN}`;
}

/** Returns a sentence about members of a group whom the bridge does not write; undefined: none. */
export function leftAloneReason({ members }: ExplainedFacts): string | undefined {
  if (!members || members.leftAlone === 0) return undefined;
  return `The source has ${counted(members.leftAlone, 'member')} more, whose memberships the bridge does not write: protected, or outside users.scope.`;
}

const isLeftOut = ({ state, condition }: MembershipState): boolean =>
  state === 'notForTarget' && condition === 'LeftByPolicy';

/** Returns a sentence about memberships of the source that the policy leaves out; undefined: none. */
export function leftOutByPolicyReason({ kind, members, memberships }: ExplainedFacts): string | undefined {
  const left = members?.leftOutByPolicy ?? memberships.filter(isLeftOut).length;
  if (left === 0) return undefined;
  return kind === 'User'
    ? `The source wants it in ${counted(left, 'group')} more, which the policy leaves out.`
    : `The source has ${counted(left, 'member')} more, whom the policy leaves out.`;
}

/** Returns a sentence about members that the bridge cannot write yet, because no push created them; undefined: none. */
export function unknownMembersReason({ members }: ExplainedFacts): string | undefined {
  if (!members || members.unknown.length === 0) return undefined;
  return `The identity provider has not pushed ${counted(members.unknown.length, 'member')} yet: ${someOf(members.unknown)}.`;
}

/** Returns a sentence about groups that are members: the bridge does not write these, so they give no access; undefined: none. */
export function nestedReason({ members }: ExplainedFacts): string | undefined {
  const groups = members?.nestedGroups ?? [];
  if (groups.length === 0) return undefined;
  return `${counted(groups.length, 'member')} ${groups.length === 1 ? 'is a group' : 'are groups'}, and groups in groups are not written: ${someOf(groups)}.`;
}
