// Describes the members of a group: their numbers, and those whose membership waits, with the causes. A membership waits if its
// change is pending (a sign of pending-memberships.ts), or if the account of a desired member is gone. Of very many members only
// some are read.
import { MEMBERSHIP_SIGN, type PendingSign } from '../directory/outbox/pending-memberships.ts';
import { isUnmanaged } from '../directory/member-names.ts';
import { parseLink, type Link } from '../directory/outbox/link.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { readRecordNames } from '../directory/resources/record-names.ts';
import { refOf, type Ref } from '../directory/records.ts';
import type { GuardState, MemberDecision } from '../directory/guard/guard-store.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { withPresentCondition } from '../ops/approvals/present-condition.ts';
import { removalStops, type RemovalStop } from '../reconcile/unwritten/removal-stops.ts';
import { leaving } from '../sync/group/members.ts';
import { removal } from '../sync/names/succession.ts';
import type { Explanation, MembershipState } from './explanation.ts';
import {
  causeOfCondition,
  EXPIRED,
  movingOf,
  PROTECTED,
  REMOVAL,
  whyNotReady,
  whyOutside,
  WITH_ACCOUNT,
} from './membership-causes.ts';

/** Largest number of pending members that are described. */
export const SHOWN_MEMBERS = 100;
/**
 * Largest number of pending members, and of desired ones, whose links are read to see whether the bridge leaves them out of the
 * group; also of unresolved member values that are looked up as groups.
 */
const MOST_READ = 1000;

/** A pending membership of the group: a user, or an unmanaged account (member-names.ts), and the sign. */
type PendingMember = readonly [user: string, sign: PendingSign];

/**
 * Returns the numbers of members of a group, and up to SHOWN_MEMBERS pending ones. A group that the settings leave out has no
 * pending ones: its next sync drops them without a write.
 */
export async function membershipsOfGroup(
  scope: ReconcileScope,
  { id, name, record }: FoundResource,
  { pendingMemberships }: ResourceStatus,
): Promise<Pick<Explanation, 'memberships' | 'members'>> {
  const { directory, target } = scope;
  const isLeftOut = record !== undefined && target.mapping.groupName(name) === undefined;
  const { users, unresolved } = await directory.membersOf(id);
  // Names of the member values that are ids of stored groups: the directory resolves members to users only.
  const nested = await readRecordNames(
    directory,
    unresolved.slice(0, MOST_READ).map((value) => refOf('Group', value)),
  );
  const links = await readMemberLinks(scope, [
    ...new Set([...[...pendingMemberships.keys()].slice(0, MOST_READ), ...users.slice(0, MOST_READ)]),
  ]);
  const { wasRead, linkOf, outsideOf } = links;
  // The membership of a user whose account is gone has no sign before a new account, but is still to be added.
  const withoutAccount = users.filter(
    (user) =>
      wasRead(user) &&
      linkOf(user).id === undefined &&
      !pendingMemberships.has(user) &&
      outsideOf(user) === undefined,
  );
  const pending: PendingMember[] = isLeftOut
    ? []
    : [...pendingMemberships, ...withoutAccount.map((user) => [user, MEMBERSHIP_SIGN.toAdd] as const)];
  const memberships = await describePending(scope, id, pending.slice(0, SHOWN_MEMBERS), links);
  const additions = pending.filter(([, sign]) => sign === MEMBERSHIP_SIGN.toAdd);
  const isLeftAlone = (user: string): boolean => wasRead(user) && outsideOf(user) !== undefined;
  const members = {
    desired: users.length,
    // `withLeftMemberships` (left-by-policy.ts) sets the number afterwards.
    leftOutByPolicy: 0,
    leftAlone: users.filter(isLeftAlone).length,
    toAdd: additions.filter(([user]) => !isLeftAlone(user)).length,
    toRemove: pending.length - additions.length,
    unknown: unresolved.filter((value) => !nested.has(refOf('Group', value))),
    nestedGroups: [...nested.values()].sort(),
  };
  return { memberships, members };
}

/** The stored links of some members of the group. */
interface MemberLinks {
  wasRead: (user: string) => boolean;
  /** The link of a user; an empty one if it was not read. */
  linkOf: (user: string) => Link;
  /** Why the bridge writes no membership of the user; undefined: it writes them, or the link was not read. */
  outsideOf: (user: string) => string | undefined;
}

async function readMemberLinks({ drifts }: ReconcileScope, users: string[]): Promise<MemberLinks> {
  // The stored link and the mark of each of these users.
  const observed = new Map(
    (await drifts.readLinks(users.map((user) => refOf('User', user)))).map((each) => [each.ref, each]),
  );
  // The empty text gives an empty link.
  const linkOf = (user: string): Link => parseLink(observed.get(refOf('User', user))?.text ?? '');
  return {
    wasRead: (user) => observed.has(refOf('User', user)),
    linkOf,
    // A user whose link was not read counts as marked, so that `whyOutside` does not judge.
    outsideOf: (user) =>
      isUnmanaged(user)
        ? undefined
        : whyOutside(linkOf(user), observed.get(refOf('User', user))?.marked ?? true),
  };
}

/** Describes pending memberships: reads what stops them, and names the cause. @param group id of the group */
async function describePending(
  scope: ReconcileScope,
  group: string,
  pending: readonly PendingMember[],
  { linkOf, outsideOf }: MemberLinks,
): Promise<MembershipState[]> {
  const { directory, outbox } = scope;
  const refs = pending.map(([user]) => refOf('User', user));
  const added = pending.flatMap(([, sign], index) =>
    sign === MEMBERSHIP_SIGN.toAdd ? [refs[index] as Ref] : [],
  );
  const leavers = leaving(new Map(pending));
  const [names, unmanaged, stops, decisions, removals, deactivations, links] = await Promise.all([
    readRecordNames(directory, refs),
    outbox.unmanagedNames.namesOf(pending.map(([user]) => user)),
    removalStops(scope, added),
    outbox.guardStore.decisionsOfMembers(leavers),
    outbox.guardStore.statesOf(pending.map(([user]) => removal(group, user))),
    outbox.guardStore.statesOf(refs.map((ref) => ({ kind: 'deactivate', ref }))),
    Promise.all(pending.map(([user]) => withPresentCondition(outbox, refOf('User', user), linkOf(user)))),
  ]);
  const decisionOnAccount = new Map(leavers.map((user, index) => [user, decisions[index]]));
  return pending.map(([user, sign], index): MembershipState => {
    const ref = refOf('User', user);
    const link = links[index] ?? {};
    const other = { ref, name: String(names.get(ref) ?? link.core?.userName ?? unmanaged.get(user) ?? user) };
    if (sign !== MEMBERSHIP_SIGN.toAdd)
      return { ...other, ...removalState(sign, removals[index], decisionOnAccount.get(user)) };
    const facts = { ref, link, outside: outsideOf(user), stop: stops.get(ref) };
    return { ...other, ...additionState(facts, deactivations[index], outbox.settings) };
  });
}

/** The state of a membership, without the ref and the name of its member. */
type State = Omit<MembershipState, 'ref' | 'name'>;

/**
 * Returns the state of a member whom the group is to lose. A decision about the account is named before one about the removal.
 * @param own the guard's state of the removal
 */
function removalState(
  sign: PendingSign,
  own: GuardState | undefined,
  account: MemberDecision | undefined,
): State {
  const withAccount = account && WITH_ACCOUNT[account];
  const decided = own && REMOVAL[own];
  if (sign === MEMBERSHIP_SIGN.keptRemoval)
    return { state: 'toRemove', ...(withAccount ?? decided ?? PROTECTED) };
  // The guard's decision about the removal itself is given without its condition: for a removal from a group, decision-reasons.ts
  // reads the condition `Held` as "leaves with the account".
  return { state: 'toRemove', ...(withAccount ?? (decided && { because: decided.because })) };
}

/** Facts about a user who is to become a member. */
interface AddedMember {
  ref: Ref;
  /** With the condition as it is now. */
  link: Link;
  /** Why the bridge writes no membership of the user; undefined: it writes them. */
  outside: string | undefined;
  /** Cause that stops the removal from another group, which comes first; undefined: none does. */
  stop: RemovalStop | undefined;
}

/**
 * Returns the state of a member whom the group is to gain. A cause in the user, such as a missing account, is named before a
 * stopped removal from another group.
 * @param deactivation the guard's state of the deactivation of the user
 */
function additionState(
  { ref, link, outside, stop }: AddedMember,
  deactivation: GuardState | undefined,
  settings: string,
): State {
  const state = outside === undefined ? 'toAdd' : 'notForTarget';
  const because = outside ?? whyNotReady(link, settings);
  const moving = movingOf(ref, stop);
  if (because === undefined) return { state, ...moving };
  // The addition waits for the deactivation, which no operator can decide now.
  const isExpired = link.condition?.reason === 'Held' && deactivation === 'expired';
  // The condition of `moving` (stopped removal from another group) stays, so that the reasons name the approval of the removal too;
  // a condition of the user whose sync is not retried by itself replaces it.
  return { state, ...moving, because, ...causeOfCondition(link, settings), ...(isExpired ? EXPIRED : {}) };
}
