// Compares the groups of one user at the source with the groups at the platform, for explain and for the sync of one person; writes
// nothing.
import { hashOfLink, type ObservedResource } from '../../directory/outbox/drift.ts';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { nameInRecord, parseRef, type Ref } from '../../directory/records.ts';
import { mapBounded } from '../../support/bounded.ts';
import { counted } from '../../support/counted.ts';
import { isChange, leftBy, NO_BASIS, ONLY_TOLD, MEMBER_REMOVED, type PlanEntry } from '../entry.ts';
import {
  beyond,
  groupsAtSource,
  hasOtherName,
  isAsNamed,
  isJoining,
  isNotListed,
  READ_AT_ONCE,
  readMembership,
  sortPending,
  type ComparedUser,
  type GroupAtSource,
  type ReadMembership,
  type SortedPending,
} from './group-reads.ts';
import { WAITS_FOR_GROUP, type Member } from './group-case.ts';
import { withMissingCauses } from './missing-memberships.ts';
import { groupEntries } from './plan-groups.ts';
import { isProtected, protectionAt } from './protected.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { comparedGroups, groupsUnderOtherName, type GroupNames } from './group-names.ts';
import type { GroupOfAccount } from './verified.ts';

/** Reason of an entry for a group that the settings exclude: the bridge no longer changes it, and its memberships stay. */
export const LEFT_OUT = 'groups.include or groups.exclude leave this group out';

export interface ComparedMemberships extends SortedPending {
  /** Differences between the user's groups at the source and at the platform. */
  entries: PlanEntry[];
  /** Number of groups that were not compared: those beyond MOST_READ (group-reads.ts), and those in `pendingUnread`. */
  notCompared: number;
  refusedNames: GroupNames['refusedNames'];
  /** Groups that have the user and the desired name at the platform, except groups with a pending change of the membership. */
  asNamed: Ref[];
}

/**
 * Compares the user's groups at the source and at the platform. Returns null when a group could not be read that the account should
 * list, or whose name is compared. Groups whose pending removal could not be looked up are in `pendingUnread`.
 */
export async function compareMemberships(
  scan: ScanResult,
  user: ComparedUser,
): Promise<ComparedMemberships | null> {
  const atSource = await groupsAtSource(scan, user);
  // If one group cannot be read, the list of differences would be incomplete.
  if (atSource.some(({ read }) => read?.state === 'unknown')) return null;
  const toName = [...atSource.filter(hasOtherName), ...atSource.filter(isJoining)];
  const renamed = await groupsUnderOtherName(
    scan,
    toName.map(({ ref }) => ref),
  );
  if (renamed === null) return null;
  const lacking = await missingMemberships(scan, user, atSource);
  const again = await membershipsOfGoneGroups(scan, user, atSource);
  const entries = [
    ...renamed.entries,
    ...again.entries,
    ...lacking,
    ...(await entriesBesideSource(scan, user, atSource, again.linkedIds)),
  ];
  const pending = await sortPending(scan, user);
  return {
    entries,
    refusedNames: renamed.refusedNames,
    notCompared: beyond(atSource.filter(isNotListed)) + renamed.notCompared + pending.pendingUnread.length,
    asNamed: atSource.filter(isAsNamed).map(({ ref }) => ref),
    ...pending,
  };
}

/** Returns the stored links of the groups that were read in this state. */
const readLinksOf = (
  { drifts }: ReconcileScope,
  atSource: readonly GroupAtSource[],
  state: ReadMembership['state'],
): Promise<ObservedResource[]> =>
  drifts.readLinks(atSource.flatMap(({ ref, read }) => (read?.state === state ? [ref] : [])));

/** Returns an entry for each group that lacks the user. */
async function missingMemberships(
  scan: ScanResult,
  user: ComparedUser,
  atSource: readonly GroupAtSource[],
): Promise<PlanEntry[]> {
  const missing = await readLinksOf(scan.scope, atSource, 'notMember');
  const entries = await managedEntries(scan, missing, 'missing', user);
  return withMissingCauses(
    scan.scope,
    missing.map(({ ref, text }) => ({
      ref,
      entries: entries.filter((entry) => entry.ref === ref),
      changedAt: atSource.find((each) => each.ref === ref)?.read?.changedAt,
      writtenAt: parseLink(text).writtenAt,
    })),
  );
}

/**
 * Returns the entries about groups of the account in which the source does not have the user, that the bridge does not manage, or
 * that the settings leave out.
 * @param linkedAnew ids of groups that take the place of a missing one
 */
async function entriesBesideSource(
  scan: ScanResult,
  user: ComparedUser,
  atSource: readonly GroupAtSource[],
  linkedAnew: ReadonlySet<string>,
): Promise<PlanEntry[]> {
  const atSourceIds = new Set(atSource.map(({ link }) => link.id));
  const leftOut = new Set(
    atSource.flatMap(({ link, wantedName }) => (wantedName === undefined ? [link.id] : [])),
  );
  const unmatched = user.memberOf.filter(({ id }) => !atSourceIds.has(id));
  const found = await scan.scope.drifts.linkedTo(
    'Group',
    unmatched.map(({ id }) => id),
  );
  // The reverse link may be out of date; then no managed group is linked to the group of the platform.
  const holders = found.map((each, index) =>
    each && parseLink(each.text).id === unmatched[index]?.id ? each : undefined,
  );
  // A group at the source may have been linked to this group of the platform after its link was read.
  const isAtSource = (ref: Ref): boolean => atSource.some((each) => each.ref === ref);
  const surplus = holders.filter(
    (each) => each && !isAtSource(each.ref) && !user.pending.has(parseRef(each.ref).id),
  );
  return [
    ...(await managedEntries(scan, surplus, 'surplus', user)),
    ...unmatched
      .filter(({ id }, index) => !holders[index] && !linkedAnew.has(id))
      .map((group) => unmanagedEntry(user.ref, group, 'the bridge does not manage this group')),
    ...user.memberOf
      .filter(({ id }) => leftOut.has(id))
      .map((group) => unmanagedEntry(user.ref, group, LEFT_OUT)),
  ];
}

/**
 * Handles groups that the platform no longer has. First come the entries of these groups: made anew, linked to another group
 * (`relink`), or a conflict. Then comes an entry of this user's membership in each, which the sync of the group writes (`follows`).
 * There is none if the other group has the user already. It is only reported if the group has a conflict, or if the policy leaves
 * it. `linkedIds`: ids of these other groups.
 */
async function membershipsOfGoneGroups(
  scan: ScanResult,
  user: ComparedUser,
  atSource: readonly GroupAtSource[],
): Promise<{ entries: PlanEntry[]; linkedIds: ReadonlySet<string> }> {
  const gone = await readLinksOf(scan.scope, atSource, 'noGroup');
  const refs = gone.map(({ ref }) => ref);
  const ofGroups = (await comparedGroups(scan, refs)).flatMap(({ entries }) => entries.filter(isAboutGroup));
  const linked = ofGroups.filter((entry) => entry.action === 'relink' && isChange(entry));
  const present = new Set<Ref | null>();
  for (const { ref, after } of linked) {
    const id = String(after?.id);
    const isNamed = user.memberOf.some((group) => group.id === id);
    if (isNamed || (await readMembership(scan, id, user)).state === 'member') present.add(ref);
  }
  const lacking = gone.filter(({ ref }) => !present.has(ref));
  const memberships = await managedEntries(scan, lacking, 'missing', user);
  // The policy `create-only` makes no group anew.
  const left = `member at the source; the group is gone at the platform${leftBy(scan.scope.target.policy)}`;
  const added = await mapBounded(memberships, READ_AT_ONCE, async (entry): Promise<PlanEntry> => {
    const follower = { ...entry, ...(entry.ref && { follows: entry.ref }) };
    const action = ofGroups.find(({ ref }) => ref === entry.ref)?.action;
    if (action === 'conflict')
      return { ...follower, effect: 'report', reason: `member at the source${WAITS_FOR_GROUP}` };
    if (!isChange(entry)) return { ...entry, reason: left };
    const how = action === 'relink' ? 'linked anew' : `made with ${await membersMade(scan.scope, entry)}`;
    return { ...follower, reason: `member at the source; the group is ${how}` };
  });
  const linkedIds = new Set(linked.map(({ after }) => String(after?.id)));
  return { entries: [...ofGroups, ...added], linkedIds };
}

/**
 * Returns words for the members that a group gets when its sync makes it anew: those with an account who are neither departed nor
 * protected, and whose last sync was not refused.
 */
async function membersMade({ drifts, target }: ReconcileScope, { ref }: PlanEntry): Promise<string> {
  const members = ref === null ? [] : await drifts.membersOf(parseRef(ref).id);
  const written = members.filter(
    ({ link }) =>
      link.id !== undefined && !link.departed && !refusalOf(link) && !isProtected(link, protectionAt(target)),
  );
  return written.length === 1 ? 'this member' : `all its ${counted(written.length, 'member')}`;
}

/** Returns whether the entry is about the group itself, and not about a member. */
const isAboutGroup = ({ member }: PlanEntry): boolean => member === undefined;

/**
 * Returns the entries about this user that a comparison of each whole group would contain.
 * @param links stored links of the groups; undefined ones are left out
 * @param side whether the user is missing in these groups, or surplus there
 */
export async function managedEntries(
  { scope }: Pick<ScanResult, 'scope'>,
  links: readonly (ObservedResource | undefined)[],
  side: 'missing' | 'surplus',
  { ref: user, link, unconfirmed }: Pick<ComparedUser, 'ref' | 'link' | 'unconfirmed'>,
): Promise<PlanEntry[]> {
  const groups = links.filter((each) => each !== undefined);
  const unwrittenSince = await scope.runs.unwrittenSince();
  const ids = groups.map(({ ref }) => parseRef(ref).id);
  const records = new Map((await scope.directory.getMany('Group', ids)).map((each) => [each.id, each]));
  const unsent = new Set(await scope.outbox.unsentGroups(parseRef(user).id, ids));
  const member = { ref: user, platformId: link.id ?? null, name: String(link.core?.userName ?? '') };
  const isSurplus = side === 'surplus';
  return groups.flatMap(({ ref, text, marked }) => {
    const record = records.get(parseRef(ref).id);
    const group = parseLink(text);
    // The source deleted the group, so only a membership that the platform still has is a difference.
    if (!record) return isSurplus ? [inDeletedGroup(scope, { ref, link: group, member })] : [];
    const displayName = nameInRecord(record);
    // A damaged record does not show whether the user is a member.
    if (displayName === undefined) return [];
    const name = scope.target.mapping.groupName(displayName);
    // The settings leave the group out.
    if (name === undefined) {
      const known = { id: group.id ?? '', name: String(group.core?.displayName ?? displayName) };
      return isSurplus ? [unmanagedEntry(user, known, LEFT_OUT)] : [];
    }
    const entries = groupEntries(
      {
        ref,
        link: group,
        basis: { version: record.version, link: hashOfLink(text) },
        marked,
        isLost: record.lastModified > unwrittenSince,
        needsMemberReview: false,
        isDeleted: false,
        wantedName: name,
        unconfirmed: new Set(unconfirmed.has(parseRef(ref).id) ? [parseRef(user).id] : []),
        unsent: new Set(unsent.has(parseRef(ref).id) ? [parseRef(user).id] : []),
        pending: [],
        // The desired name is passed as the observed one too, so that only memberships can differ.
        observed: { id: group.id ?? '', displayName: name },
        members: { missing: [], surplus: [], [side]: [member] },
      },
      { policy: scope.target.policy, now: scope.clock.now() },
    );
    return entries.filter((entry) => entry.member);
  });
}

/** Returns an entry for the membership in a group that was deleted at the source and that the policy leaves. */
const inDeletedGroup = (
  { target }: ReconcileScope,
  { ref, link, member }: { ref: Ref; link: Link; member: Member },
): PlanEntry => ({
  ...MEMBER_REMOVED,
  kind: 'Group',
  ref,
  platformId: link.id ?? null,
  name: String(link.core?.displayName ?? ref),
  member,
  effect: 'report',
  reason: `the group was deleted at the source${leftBy(target.policy)}`,
  attribution: { cause: 'source changed' },
  basis: NO_BASIS,
});

/** Returns an entry for an unmanaged group, which gives the person access too. `withNames` replaces the empty name of the member. */
const unmanagedEntry = (ref: Ref, { id, name }: GroupOfAccount, reason: string): PlanEntry => ({
  ...ONLY_TOLD,
  ...{ action: 'unmanaged', kind: 'Group', ref: null, platformId: id, name },
  member: { ref, platformId: null, name: '' },
  before: { member: true },
  after: { member: true },
  reason,
});
