// Describes the memberships of a user or group, with the causes of those that wait. Signs of pending memberships
// (docs/glossary.md): `+` to gain, `-` to lose, `r` a kept removal, which a decision or a protection keeps from being written.
import { MEMBERSHIP_SIGN, type PendingSign } from '../directory/outbox/pending-memberships.ts';
import { isUnmanaged } from '../directory/member-names.ts';
import { presentMessage } from '../directory/outbox/condition-text.ts';
import { parseLink, type Link } from '../directory/outbox/link.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { readRecordNames } from '../directory/resources/record-names.ts';
import { refOf, type Ref } from '../directory/records.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { withPresentCondition } from '../ops/approvals/present-condition.ts';
import { removalStops } from '../reconcile/unwritten/waiting-for-decision.ts';
import { wasBehindHold } from '../sync/gate.ts';
import { removal } from '../sync/names/succession.ts';
import type { Explanation, MembershipState } from './explanation.ts';
import {
  causeOfCondition,
  causeOfGroup,
  DELETION,
  EXPIRED,
  FOLLOWING,
  FOLLOWS,
  formerName,
  KEPT_WITH_ACCOUNT,
  LEFT_OUT_MEMBERSHIP,
  movingOf,
  PROTECTED,
  REMOVAL,
  STILL_CALLED,
  whyNotReady,
  whyOutside,
} from './membership-causes.ts';

/** Largest number of pending members that are described. */
export const SHOWN_MEMBERS = 100;
/**
 * Largest number of users whose links are read to see whether the bridge leaves them out of the group (of the pending and of the
 * desired members each), and of unresolved member values that are looked up as groups.
 */
const MOST_READ = 1000;

/** Returns a user's memberships in the groups of the source, and those with a pending removal. */
export async function membershipsOfUser(
  scope: ReconcileScope,
  { id, ref }: FoundResource,
  { mark, pendingMemberships: pendingGroups }: ResourceStatus,
): Promise<MembershipState[]> {
  const { directory, drifts, links, outbox, target } = scope;
  const [joined = []] = await directory.groupsOf([id]);
  const leaving = [...pendingGroups.keys()].filter((group) => !joined.some((each) => each.id === group));
  const ids = [...joined.map((group) => group.id), ...leaving];
  const { guardStore } = outbox;
  const refs = ids.map((group) => refOf('Group', group));
  const [[ownLink], groupLinks, removals, deletions, [closing], names] = await Promise.all([
    drifts.readLinks([ref]),
    links
      .getMany(target.name, refs)
      .then((found) =>
        Promise.all(found.map((link, at) => withPresentCondition(outbox, refs[at] as Ref, link))),
      ),
    guardStore.statesOf(ids.map((group) => removal(group, id))),
    guardStore.statesOf(refs.map((group) => ({ kind: 'delete', ref: group }))),
    guardStore.decisionsOfMembers([id]),
    readRecordNames(
      directory,
      leaving.map((group) => refOf('Group', group)),
    ),
  ]);
  // Of several causes the first of this order is named: the settings leave the group out; a decision about the removal; one about
  // the account; one about the deletion of the group; what stops the group's sync.
  return ids.flatMap((group, index): MembershipState | [] => {
    const link = groupLinks[index] ?? {};
    const name = joined.find((each) => each.id === group)?.displayName ?? names.get(refOf('Group', group));
    // Settings leave groups out by name, and a deleted group has no stored name.
    const isWanted = name === undefined || target.mapping.groupName(name) !== undefined;
    const sign = pendingGroups.get(group);
    const other = { ref: refOf('Group', group), name: name ?? String(link.core?.displayName ?? group) };
    if (!isWanted) return { ...other, state: 'notForTarget', ...LEFT_OUT_MEMBERSHIP };
    const decided = removals[index] && REMOVAL[removals[index]];
    // If the settings changed since the group got its condition, `presentMessage` adds a note on that to the cause.
    const because =
      link.condition &&
      decided &&
      presentMessage({ ...link.condition, message: decided.because }, outbox.settings);
    const removed = decided && { ...decided, because: because ?? decided.because };
    const kept = closing === 'rejected' ? KEPT_WITH_ACCOUNT : undefined;
    // A person rejected the removal or the deactivation of the account, or the user is protected.
    if (sign === MEMBERSHIP_SIGN.keptRemoval)
      return { ...other, state: 'toRemove', ...(removed ?? kept ?? PROTECTED) };
    if (sign === MEMBERSHIP_SIGN.toRemove) {
      // A group without link has no member to remove. The removal is left out if the source deleted that group, or if the group waits
      // behind a held change and the person has no mark.
      const isDropped = name === undefined || (!mark && wasBehindHold(link));
      if (link.id === undefined && isDropped) return [];
      // `follows`: the removal is written with the deactivation of the account, which the guard holds.
      const follows = closing === 'follows' ? { because: FOLLOWS } : undefined;
      const deleted = deletions[index] && DELETION[deletions[index]];
      const cause = removed ?? kept ?? follows ?? deleted ?? causeOfGroup(link, outbox.settings);
      return { ...other, state: 'toRemove', ...cause };
    }
    // Checked behind the removals, because a removal is written for a user out of scope too.
    const outside = !ownLink ? undefined : whyOutside(parseLink(ownLink.text), ownLink.marked);
    if (outside !== undefined) return { ...other, state: 'notForTarget', because: outside };
    const former = sign === undefined ? formerName(link, target.mapping.groupName(name ?? '')) : undefined;
    const cause = causeOfGroup(link, outbox.settings);
    // A group without link gives no membership, also if no addition is pending: another connection may have taken the group over.
    const state = sign === undefined && link.id === undefined ? 'toAdd' : stateOf(sign);
    if (former === undefined) return { ...other, state, ...(state === 'applied' ? {} : cause) };
    // The person is in the group under the name that the group has by its link. Somebody may have renamed the group since its
    // last sync: explain.ts corrects the state when the platform shows the desired name.
    const still = `${STILL_CALLED}${former} at the platform as of its last sync, so the person has the access of that name${cause.because === undefined ? '' : `: ${cause.because}`}`;
    // The policy `create-only` renames no group that the bridge has completed.
    const left =
      target.policy.policy === 'create-only' && !link.isIncomplete ? { condition: 'LeftByPolicy' } : {};
    return { ...other, state: 'toAdd', ...left, ...cause, because: still };
  });
}

/**
 * Returns the numbers of members of a group, and up to SHOWN_MEMBERS pending ones. A group that the settings leave out has no
 * pending ones: its next sync ends their signs without a write.
 */
export async function membershipsOfGroup(
  scope: ReconcileScope,
  { id, name, record }: FoundResource,
  { pendingMemberships }: ResourceStatus,
): Promise<Pick<Explanation, 'memberships' | 'members'>> {
  const { directory, drifts, outbox, target } = scope;
  const isLeftOut = record !== undefined && target.mapping.groupName(name) === undefined;
  const { users, unresolved } = await directory.membersOf(id);
  // Names of the member values that are ids of stored groups: the directory resolves members to users only.
  const nested = await readRecordNames(
    directory,
    unresolved.slice(0, MOST_READ).map((value) => refOf('Group', value)),
  );
  const read = [
    ...new Set([...[...pendingMemberships.keys()].slice(0, MOST_READ), ...users.slice(0, MOST_READ)]),
  ];
  const observed = new Map(
    (await drifts.readLinks(read.map((user) => refOf('User', user)))).map((each) => [each.ref, each]),
  );
  // The empty text gives an empty link. A user whose link was not read counts as marked, so that `whyOutside` does not judge.
  const linkOf = (ref: Ref): Link => parseLink(observed.get(ref)?.text ?? '');
  const outsideOf = (user: string): string | undefined => {
    const ref = refOf('User', user);
    return isUnmanaged(user) ? undefined : whyOutside(linkOf(ref), observed.get(ref)?.marked ?? true);
  };
  // The membership of a user who lost the account has no sign until there is a new account. It is still to be added, so it is shown
  // as `+`.
  const ended = users.filter((user) => {
    const link = observed.get(refOf('User', user)) && linkOf(refOf('User', user));
    return link !== undefined && link.id === undefined && !pendingMemberships.has(user) && !outsideOf(user);
  });
  const signs = isLeftOut
    ? []
    : [...pendingMemberships, ...ended.map((user) => [user, MEMBERSHIP_SIGN.toAdd] as const)];
  const pending = signs.slice(0, SHOWN_MEMBERS);
  const refs = pending.map(([user]) => refOf('User', user));
  const leaving = pending.flatMap(([user, sign]) => (sign === MEMBERSHIP_SIGN.toAdd ? [] : [user]));
  const [names, unmanaged, stops, decisions, removals, closings, links] = await Promise.all([
    readRecordNames(directory, refs),
    outbox.unmanagedNames.namesOf(pending.map(([user]) => user)),
    removalStops(
      scope,
      refs.filter((_, index) => pending[index]?.[1] === MEMBERSHIP_SIGN.toAdd),
    ),
    outbox.guardStore.decisionsOfMembers(leaving),
    outbox.guardStore.statesOf(pending.map(([user]) => removal(id, user))),
    outbox.guardStore.statesOf(refs.map((ref) => ({ kind: 'deactivate', ref }))),
    Promise.all(refs.map((ref) => withPresentCondition(outbox, ref, linkOf(ref)))),
  ]);
  const decisionOf = new Map(leaving.map((user, index) => [user, decisions[index]]));
  const memberships = pending.map(([user, sign], index): MembershipState => {
    const ref = refOf('User', user);
    const link = links[index] ?? {};
    const outside = sign === MEMBERSHIP_SIGN.toAdd ? outsideOf(user) : undefined;
    const because =
      sign === MEMBERSHIP_SIGN.toAdd ? (outside ?? whyNotReady(link, outbox.settings)) : undefined;
    const decided = removals[index] && REMOVAL[removals[index]];
    // Of several causes the last that is spread is named: for a removal the decision about the account before the one about the
    // removal, for an addition the state of the user before the removal from another group.
    return {
      ref,
      name: String(names.get(ref) ?? link.core?.userName ?? unmanaged.get(user) ?? user),
      state: outside === undefined ? stateOf(sign) : 'notForTarget',
      ...(sign === MEMBERSHIP_SIGN.keptRemoval ? (decided ?? PROTECTED) : {}),
      ...(sign === MEMBERSHIP_SIGN.toRemove && (removals[index] === 'held' || removals[index] === 'expired')
        ? { because: REMOVAL[removals[index]].because }
        : {}),
      ...movingOf(ref, stops.get(ref)),
      ...(decisionOf.get(user) === 'follows' ? FOLLOWING : {}),
      ...(decisionOf.get(user) === 'rejected' ? KEPT_WITH_ACCOUNT : {}),
      ...(because === undefined ? {} : { because, ...causeOfCondition(link, outbox.settings) }),
      // The addition waits for the deactivation, which no operator can decide now.
      ...(because && link.condition?.reason === 'Held' && closings[index] === 'expired' ? EXPIRED : {}),
    };
  });
  const added = signs.filter(([, sign]) => sign === MEMBERSHIP_SIGN.toAdd);
  const members = {
    desired: users.length,
    // left-by-policy.ts counts these.
    leftOutByPolicy: 0,
    leftAlone: users.filter((user) => observed.has(refOf('User', user)) && outsideOf(user)).length,
    toAdd: added.filter(([user]) => !observed.has(refOf('User', user)) || !outsideOf(user)).length,
    toRemove: signs.length - added.length,
    unknown: unresolved.filter((value) => !nested.has(refOf('Group', value))),
    nestedGroups: [...nested.values()].sort(),
  };
  return { memberships, members };
}

function stateOf(sign: PendingSign | undefined): MembershipState['state'] {
  if (sign === undefined) return 'applied';
  return sign === MEMBERSHIP_SIGN.toAdd ? 'toAdd' : 'toRemove';
}
