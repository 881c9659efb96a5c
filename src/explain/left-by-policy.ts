// Finds the memberships that the source wants and the policy `create-only` leaves out: the person joined after the bridge had
// completed the group, so the platform lacks the membership and no sync adds it.
import type { FoundResource } from '../ops/find.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { readRecordNames } from '../directory/resources/record-names.ts';
import { parseRef, refOf, type Ref } from '../directory/records.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { isUnderFormerName } from './membership-causes.ts';
import { SHOWN_MEMBERS } from './members-of-group.ts';
import type { Explanation, MembershipState } from './explanation.ts';

const LEFT_OUT = {
  state: 'notForTarget',
  because: 'the policy create-only leaves this membership out',
  condition: 'LeftByPolicy',
} as const;

/**
 * Returns the memberships of a person or of a group; those that the policy leaves out have the state `notForTarget`. If the
 * platform was read, these are the memberships that it lacks; otherwise those whose addition was never sent.
 * @param seen the groups of the person, or the members, that the platform lacks because of the policy; undefined: it was not read
 */
export async function withLeftMemberships<
  Related extends Pick<Explanation, 'members'> & { memberships: MembershipState[] },
>(
  { directory, outbox, target }: ReconcileScope,
  { id, kind }: FoundResource,
  { pendingMemberships }: ResourceStatus,
  related: Related,
  seen: readonly Ref[] | undefined,
): Promise<Related> {
  if (target.policy.policy !== 'create-only') return related;
  const { memberships, members } = related;
  if (kind === 'User') {
    // A membership without a pending change is looked up: it is shown as `applied` (in a group under its former name as `toAdd`),
    // although it may never have been sent.
    const groups = memberships.filter((each) => each.state === 'applied' || isUnderFormerName(each));
    const ids = groups.map(({ ref }) => parseRef(ref as Ref).id);
    const left = new Set<string>(
      seen ?? (await outbox.unsentGroups(id, ids)).map((group) => refOf('Group', group)),
    );
    const toLeft = (each: MembershipState): MembershipState =>
      groups.includes(each) && left.has(each.ref) ? { ref: each.ref, name: each.name, ...LEFT_OUT } : each;
    return { ...related, memberships: memberships.map(toLeft) };
  }
  const unsent = seen ? [] : await outbox.unsentMembers(id);
  const left =
    seen ?? unsent.filter((user) => !pendingMemberships.has(user)).map((user) => refOf('User', user));
  const shown = left.slice(0, Math.max(0, SHOWN_MEMBERS - memberships.length));
  const names = await readRecordNames(directory, shown);
  return {
    ...related,
    memberships: [...memberships, ...shown.map((ref) => ({ ref, name: names.get(ref) ?? ref, ...LEFT_OUT }))],
    members: members && { ...members, leftOutByPolicy: left.length },
  };
}
