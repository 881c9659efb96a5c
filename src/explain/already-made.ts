// Takes out of the pending memberships those that the platform has already. Pure.
import { MEMBERSHIP_SIGN } from '../directory/outbox/pending-memberships.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { parseRef, type Ref } from '../directory/records.ts';
import type { Explanation, MembershipState } from './explanation.ts';

/** State of a pending membership that the platform has, made by others or by a write of the bridge without answer. */
const JOINED_ALREADY = { state: 'applied', because: 'the platform has it already' } as const;

/**
 * Returns the memberships and the numbers of members without the pending changes that the platform has already.
 * @param pendingDone refs of the groups of the person, or of the members of the group
 * @returns `removalsMade`: the memberships whose removal is already made; `memberships` lacks them
 */
export function withoutMade(
  related: Pick<Explanation, 'memberships' | 'members'>,
  pendingDone: readonly Ref[],
  { pendingMemberships }: ResourceStatus,
): Pick<Explanation, 'memberships' | 'members'> & { removalsMade: MembershipState[] } {
  const isMade = ({ ref }: MembershipState): boolean => pendingDone.some((each) => each === ref);
  const isLeft = (each: MembershipState): boolean => each.state === 'toRemove' && isMade(each);
  const memberships = related.memberships
    .filter((each) => !isLeft(each))
    .map((each) =>
      each.state === 'toAdd' && isMade(each)
        ? { ref: each.ref, name: each.name, ...JOINED_ALREADY } // the condition of the group no longer concerns this membership
        : each,
    );
  // More members may be pending than `related` describes. Of the others only the sign is known: `+`, `-` or `r` (pending
  // membership in docs/glossary.md).
  const described = new Map(related.memberships.map((each) => [each.ref, each.state]));
  const stateOfSign = (sign: string | undefined) =>
    sign && (sign === MEMBERSHIP_SIGN.toAdd ? 'toAdd' : 'toRemove');
  const made = pendingDone.map(
    (each) => described.get(each) ?? stateOfSign(pendingMemberships.get(parseRef(each).id)),
  );
  const countMade = (state: MembershipState['state']): number => made.filter((each) => each === state).length;
  const members = related.members && {
    ...related.members,
    toAdd: related.members.toAdd - countMade('toAdd'),
    toRemove: related.members.toRemove - countMade('toRemove'),
  };
  return { memberships, members, removalsMade: related.memberships.filter(isLeft) };
}
