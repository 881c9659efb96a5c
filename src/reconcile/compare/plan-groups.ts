// Converts the differences of one group to plan entries. Pure. Three sorts: about the group itself (`existence`, `deletion`), about
// pending memberships (`pendingMembers`), and about members that only one side has (`differingMembers`). The cause of an entry is
// refined later (attribution.ts).
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { fold, parseRef } from '../../directory/records.ts';
import { storedNameOf } from '../../directory/member-names.ts';
import { leaverTestOf } from '../../sync/group/left-members.ts';
import {
  absenceOf,
  MEMBER_ADDED,
  leftBy,
  ownCause,
  MEMBER_REMOVED,
  TAKEN_OUT,
  type PlanEntry,
} from '../entry.ts';
import {
  isLeftByCreateOnly,
  groupFields,
  WAITS_FOR_GROUP,
  WAITS_FOR_USER,
  type GroupCase,
  type GroupRules,
  type Member,
  type SurplusMember,
} from './group-case.ts';

const RENAMED = 'displayName differs; roles and policies go by the name';

/** Returns the entries of one group; none when it is as desired. */
export function groupEntries(group: GroupCase, rules: GroupRules): PlanEntry[] {
  if (group.isDeleted) {
    // The group was never linked, or is gone already.
    if (group.link.id === undefined || !group.observed) return [];
    // An adopted group stays and loses the members that the bridge added.
    const leaving =
      group.link.origin === 'adopted'
        ? [...pendingMembers(group, rules), ...leaverRemovals(group, rules)]
        : [];
    return [deletion(group, rules), ...leaving];
  }
  if (group.wantedName === undefined) return [];
  return [
    ...existence(group, rules),
    ...pendingMembers(group, rules),
    ...differingMembers(group, rules),
    ...surplusOfAdopted(group),
  ];
}

/** Returns the entry of a group that the source deleted; a group that the bridge adopted is only reported. */
function deletion(group: GroupCase, { policy }: GroupRules): PlanEntry {
  const isOwn = group.link.origin !== 'adopted';
  const isLeft = policy.policy !== 'sync';
  return {
    ...groupFields(group, ownCause(group), isOwn && !isLeft ? 'apply' : 'report'),
    action: 'delete',
    before: { displayName: group.observed?.displayName ?? null },
    after: null,
    reason: isOwn
      ? `deleted at the source${leftBy(policy)}`
      : 'deleted at the source; a group that was there before the bridge stays',
  };
}

/** Returns the entries that create, adopt, relink or rename the group; none if it is there under the desired name. */
function existence(group: GroupCase, rules: GroupRules): PlanEntry[] {
  const { link, observed, wantedName = '' } = group;
  if (link.id === undefined || observed === undefined) return linkEntries(group, rules);
  if (observed.displayName === wantedName) return [];
  const isApplied = link.core?.displayName === wantedName;
  // The platform may store the name in another letter case, which a rename would not change.
  if (isApplied && fold(observed.displayName) === fold(wantedName)) return [];
  const isLeftAsItIs = isLeftByCreateOnly(group, rules);
  return [
    {
      ...groupFields(
        group,
        isApplied ? 'platform changed' : ownCause(group),
        isLeftAsItIs ? 'report' : 'apply',
      ),
      action: 'update',
      before: { displayName: observed.displayName },
      after: { displayName: wantedName },
      reason: `${RENAMED}${isLeftAsItIs ? leftBy(rules.policy) : ''}`,
    },
  ];
}

/** Returns the entries that create, adopt or relink a group that the platform does not have under its link. */
function linkEntries(group: GroupCase, rules: GroupRules): PlanEntry[] {
  const { policy, now } = rules;
  const { link, namesake, wantedName = '' } = group;
  const after = { displayName: wantedName };
  // No run writes a conflict, whatever its effect (isNotice in entry.ts).
  if (group.takenBy !== undefined)
    return [
      { ...groupFields(group, 'none'), action: 'conflict', before: null, after, reason: group.takenBy },
    ];
  const isGone = link.id !== undefined;
  // A complete group that is gone is neither made nor linked anew under `create-only`.
  const isLeftAsItIs = isGone && isLeftByCreateOnly(group, rules);
  // The cause is the platform also if a mark is pending: no push or restore takes a group away.
  const absence = absenceOf(link, now, 'the group is gone at the platform');
  const common = {
    ...groupFields(group, isGone ? absence.cause : ownCause(group), isLeftAsItIs ? 'report' : 'apply'),
    after,
  };
  const whyGone = isGone ? `${absence.reason}; ` : '';
  if (!namesake) {
    const reason = isLeftAsItIs ? `${absence.reason}${leftBy(policy)}` : `${whyGone}it is made`;
    return [{ ...common, action: 'create', before: null, reason }];
  }
  const found = { ...common, before: { id: link.id ?? null, displayName: namesake.name } };
  if (policy.adopt !== 'exact') {
    const reason = `${whyGone}a group of this name exists and adopt is ${policy.adopt}`;
    return [{ ...found, action: 'conflict', reason }];
  }
  const reason = isLeftAsItIs
    ? `${whyGone}a group of this name exists${leftBy(policy)}`
    : `${whyGone}the one that carries its name is taken over`;
  const adopted = { id: namesake.id, displayName: namesake.name };
  const adoption: PlanEntry = { ...found, action: isGone ? 'relink' : 'adopt', after: adopted, reason };
  // Under `create-only` the bridge does not change a group that it takes over.
  if (namesake.name === wantedName || policy.policy === 'create-only') return [adoption];
  const rename: PlanEntry = {
    ...common,
    action: 'update',
    platformId: namesake.id,
    before: { displayName: namesake.name },
    reason: RENAMED,
  };
  return [adoption, rename];
}

/** Returns the entries of pending memberships. A group that is still to be created has no member to be removed. */
function pendingMembers(group: GroupCase, rules: GroupRules): PlanEntry[] {
  const { policy } = rules;
  const willBeCreated = group.observed === undefined && !group.namesake;
  const pending = willBeCreated ? group.pending.filter(({ sign }) => sign === '+') : group.pending;
  return pending.map(({ member, sign, refusal, isTakenOut }) => {
    if (sign !== '+') {
      return {
        // The cause `source changed` means that a sync is to come. For a kept removal (`r`) of a group without a mark none is, so
        // the run has to mark the group.
        ...groupFields(
          group,
          sign === MEMBERSHIP_SIGN.keptRemoval && !group.marked ? 'not applied' : 'source changed',
          policy.policy === 'sync' ? 'apply' : 'report',
        ),
        ...MEMBER_REMOVED,
        member,
        reason: `no member at the source any more${leftBy(policy)}`,
      };
    }
    const left = isLeftByCreateOnly(group, rules) ? leftBy(policy) : undefined;
    // The sync of a dead letter has tried this addition before. With the cause `source changed`, `applyRefusals` replaces the
    // entry, so that no run tries it again.
    const isRefused = refusalOf(group.link, group.marked) !== undefined;
    const waits = group.takenBy
      ? WAITS_FOR_GROUP
      : (left ?? (refusal && `${WAITS_FOR_USER} (${refusal.reason})`));
    return {
      ...groupFields(
        group,
        isTakenOut && !isRefused ? 'platform changed' : 'source changed',
        waits ? 'report' : 'apply',
      ),
      ...MEMBER_ADDED,
      member,
      reason: `${isTakenOut ? TAKEN_OUT : 'member at the source'}${waits ?? ''}`,
    };
  });
}

/** Returns a test of whether the source removed a member and the policy of the target left that member in the group. */
function isLeaverOf({ link }: GroupCase): (member: Member) => boolean {
  const isListed = leaverTestOf(link);
  return ({ ref, platformId }) => ref !== null && isListed?.(parseRef(ref).id, platformId) === true;
}

/** Returns the entries that remove leavers (`isLeaverOf`) from a group that was deleted at the source. */
function leaverRemovals(group: GroupCase, rules: GroupRules): PlanEntry[] {
  const surplus = (group.members?.surplus ?? []).filter(isLeaverOf(group));
  return differingMembers({ ...group, members: { missing: [], surplus } }, rules);
}

/** Returns the entries of members that the platform lacks, and of members that only the platform has. */
function differingMembers(group: GroupCase, rules: GroupRules): PlanEntry[] {
  const { missing = [], gone, surplus = [] } = group.members ?? {};
  const isLeaver = isLeaverOf(group);
  return [
    ...missing.map((member) => missingMember(group, member, rules, gone?.has(member.ref) === true)),
    ...surplus.map((member) => surplusMember(group, member, rules, isLeaver(member))),
  ];
}

/** Returns the entry that adds a member. @param isGone the platform does not have the account of the member any more */
function missingMember(group: GroupCase, member: Member, rules: GroupRules, isGone: boolean): PlanEntry {
  const { link } = group;
  // Members may be missing because no sync has written them: changes may be lost, the group comes back into scope, or it is being
  // adopted (under `create-only` for ever). Then a missing member was not taken out at the platform.
  const mayLackAdditions =
    group.isLost || (group.needsMemberReview && link.departed === true) || link.adopting === true;
  const isUnwritten = mayLackAdditions || (member.ref !== null && group.unsent.has(parseRef(member.ref).id));
  const isLeftAsItIs = isLeftByCreateOnly(group, rules);
  const atSource = isUnwritten ? 'member at the source' : TAKEN_OUT;
  const reason = isGone ? 'member at the source, whose account is gone at the platform' : atSource;
  return {
    ...groupFields(
      group,
      isUnwritten ? 'not applied' : 'platform changed',
      isLeftAsItIs ? 'report' : 'apply',
    ),
    ...MEMBER_ADDED,
    member,
    reason: `${reason}${isLeftAsItIs ? leftBy(rules.policy) : ''}`,
  };
}

/**
 * Returns the entry that removes a member, or that only tells of one who stays: kept, or under `groups.members: owned`.
 * @param isLeaver whether the source removed the member (`isLeaverOf`)
 */
function surplusMember(
  group: GroupCase,
  { isKept, ...member }: SurplusMember,
  { policy }: GroupRules,
  isLeaver: boolean,
): PlanEntry {
  const isUnwrittenRemoval = member.ref !== null && (group.isLost || isLeaver);
  // The platform answered the removal with success, but no read has shown it yet.
  const didNotStick = group.unconfirmed.has(storedNameOf(member));
  const cause = didNotStick ? 'write did not stick' : 'platform changed';
  const common = groupFields(group, isUnwrittenRemoval ? 'not applied' : cause);
  const isOwnedOnly = policy.groups.members === 'owned' && !isUnwrittenRemoval && !didNotStick;
  if (isKept || isOwnedOnly) {
    const reason = isKept
      ? 'no member at the source, but listed in users.protected, or the owner of the platform key: no run removes the account'
      : 'member whom the bridge has no record of adding; groups.members: authoritative would remove it';
    return {
      // A kept member is no drift: no run changes it, so its cause is not looked for.
      ...(isKept ? groupFields(group, 'none') : common),
      action: 'unmanaged',
      member,
      before: { member: true },
      after: { member: true },
      effect: 'report',
      reason,
    };
  }
  const byOthers = isUnwrittenRemoval ? '' : ', added at the platform';
  const why = didNotStick ? '; the platform answered an earlier removal with success' : byOthers;
  return {
    ...common,
    ...MEMBER_REMOVED,
    member,
    effect: policy.policy === 'sync' ? 'apply' : 'report',
    reason: `no member at the source${why}${leftBy(policy)}`,
  };
}

/**
 * Returns the entries of members that only the group to be adopted has. The sync that adopts the group leaves them, so they
 * are only reported; a later repair or an ordered sync removes them.
 */
const surplusOfAdopted = (group: GroupCase): PlanEntry[] =>
  (group.surplusThere ?? []).map((member) => ({
    ...groupFields(group, 'none', 'report'),
    ...MEMBER_REMOVED,
    member,
    reason: `no member at the source; the adoption of the group leaves this membership: only a later reconcile that repairs, or scim-bridge sync ${group.ref} after the adoption, removes the membership`,
  }));
