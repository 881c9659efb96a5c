// Compares the groups of one user at the source with the groups at the platform; writes nothing.
import { hashOfLink, type ObservedResource } from '../../directory/outbox/drift.ts';
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import { refusalOf } from '../../directory/outbox/link-condition.ts';
import { fold, nameInRecord, parseRef, refOf, type Ref } from '../../directory/records.ts';
import { mapBounded } from '../../support/bounded.ts';
import { counted } from '../../support/counted.ts';
import { isChange, leftBy, NO_BASIS, ONLY_TOLD, MEMBER_REMOVED, type PlanEntry } from '../entry.ts';
import {
  beyond,
  readMembership,
  MOST_READ,
  READ_AT_ONCE,
  sortPending,
  type ComparedUser,
  type ReadMembership,
} from './group-reads.ts';
import { WAITS_FOR_GROUP, type Member, type MemberDifferences } from './group-case.ts';
import { withMissingCauses } from './missing-memberships.ts';
import { groupEntries } from './plan-groups.ts';
import { isProtected, protectionAt } from './protected.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { comparedGroups, groupsUnderOtherName, type GroupNames } from './group-names.ts';
import type { GroupOfAccount } from './verified.ts';

/** Reason of an entry for a group that the settings exclude: the bridge no longer changes it, and its memberships stay. */
export const LEFT_OUT = 'groups.include or groups.exclude leave this group out';

interface ComparedMemberships {
  /** Differences between the user's groups at the source and at the platform. */
  entries: PlanEntry[];
  /** Number of groups beyond MOST_READ, and of `pendingUnread`. */
  notCompared: number;
  refusedNames: GroupNames['refusedNames'];
  /** Groups whose pending change of the membership somebody else has already made at the platform. */
  pendingDone: Ref[];
  /** Groups that have the user and the desired name at the platform, except groups with a pending change of the membership. */
  asNamed: Ref[];
  /** Groups with a pending removal of the user that were not read, so that the user may be in them or not. */
  pendingUnread: Ref[];
}

/**
 * Compares the user's groups at the source and at the platform. Returns null when a group could not be read that the account should
 * list, or whose name is compared. Groups whose pending removal could not be looked up are in `pendingUnread`.
 */
export async function compareMemberships(
  scan: ScanResult,
  user: ComparedUser,
): Promise<ComparedMemberships | null> {
  const { directory, links, drifts, target } = scan.scope;
  const [sourceGroups = []] = await directory.groupsOf([parseRef(user.ref).id]);
  const sourceRefs = sourceGroups.map(({ id }) => refOf('Group', id));
  const sourceLinks = await links.getMany(target.name, sourceRefs);
  const isLeftOut = ({ displayName }: { displayName: string }): boolean =>
    target.mapping.groupName(displayName) === undefined;
  const leftOut = new Set(
    sourceLinks.flatMap(({ id }, at) => (sourceGroups[at] && isLeftOut(sourceGroups[at]) ? [id] : [])),
  );
  const platformIds = new Set(sourceLinks.map(({ id }) => id));
  // Names of the groups that the account lists, by platform id.
  const listedNames = new Map(user.memberOf.map(({ id, name }) => [id, name]));
  const isCalled = (name: string, { displayName }: { displayName: string }): boolean =>
    fold(name) === fold(target.mapping.groupName(displayName) ?? name);
  // Groups at the source that the account should list and does not.
  const unlisted = sourceRefs.flatMap((ref, index) => {
    const { id, departed } = sourceLinks[index] ?? {};
    const isExpected = id !== undefined && departed !== true && !user.pending.has(parseRef(ref).id);
    return isExpected && !listedNames.has(id) ? [{ ref, id }] : [];
  });
  const read = await mapBounded(unlisted.slice(0, MOST_READ), READ_AT_ONCE, async ({ ref, id }) => ({
    ref,
    ...(await readMembership(scan, id, user)),
  }));
  // If one group cannot be read, the list of differences would be incomplete.
  if (read.some(({ state }) => state === 'unknown')) return null;
  const linksInState = (wantedState: ReadMembership['state']) =>
    drifts.readLinks(read.flatMap(({ ref, state }) => (state === wantedState ? [ref] : [])));
  const otherwiseCalled: Ref[] = [];
  const asNamed: Ref[] = [];
  // Groups that the user is about to join: their names were not read.
  const joining: Ref[] = [];
  for (const [index, group] of sourceGroups.entries()) {
    const ref = refOf('Group', group.id);
    const { id } = sourceLinks[index] ?? {};
    const name = listedNames.get(id ?? '') ?? read.find((each) => each.ref === ref)?.name;
    const isCalledRight = name !== undefined && isCalled(name, group);
    if (name !== undefined && !isCalledRight) otherwiseCalled.push(ref);
    const isThere =
      listedNames.has(id ?? '') || read.some((each) => each.ref === ref && each.state === 'member');
    if (isThere && isCalledRight && !user.pending.has(group.id)) asNamed.push(ref);
    if (name === undefined && id !== undefined && user.pending.has(group.id)) joining.push(ref);
  }
  const renamed = await groupsUnderOtherName(scan, [...otherwiseCalled, ...joining]);
  if (renamed === null) return null;
  const missing = await linksInState('notMember');
  const lacked = await managedEntries(scan, missing, (member) => ({ missing: [member], surplus: [] }), user);
  const lacking = await withMissingCauses(
    scan.scope,
    missing.map(({ ref, text }) => ({
      ref,
      entries: lacked.filter((entry) => entry.ref === ref),
      changedAt: read.find((each) => each.ref === ref)?.changedAt,
      writtenAt: parseLink(text).writtenAt,
    })),
  );
  const gone = await linksInState('noGroup');

  const unmatched = user.memberOf.filter(({ id }) => !platformIds.has(id));
  const found = await drifts.linkedTo(
    'Group',
    unmatched.map(({ id }) => id),
  );
  // The reverse link may be out of date; then no managed group is linked to the group of the platform.
  const holders = found.map((each, index) =>
    each && parseLink(each.text).id === unmatched[index]?.id ? each : undefined,
  );
  const surplus = holders.filter((each) => each && !user.pending.has(parseRef(each.ref).id));
  const again = await madeAgain(scan, gone, user);
  const entries = [
    ...renamed.entries,
    ...again.entries,
    ...lacking,
    ...(await managedEntries(scan, surplus, (member) => ({ missing: [], surplus: [member] }), user)),
    ...unmatched
      .filter(({ id }, index) => !holders[index] && !again.linkedIds.has(id))
      .map((group) => unmanagedEntry(user.ref, group, 'the bridge does not manage this group')),
    ...user.memberOf
      .filter(({ id }) => leftOut.has(id))
      .map((group) => unmanagedEntry(user.ref, group, LEFT_OUT)),
  ];
  const pending = await sortPending(scan, user, listedNames);
  const notCompared = beyond(unlisted) + renamed.notCompared + pending.pendingUnread.length;
  return { entries, refusedNames: renamed.refusedNames, notCompared, asNamed, ...pending };
}

/** Entries about groups that the platform no longer has, and the ids of the groups that are linked in place of them. */
interface GroupsMadeAgain {
  entries: PlanEntry[];
  linkedIds: ReadonlySet<string>;
}

/**
 * Returns an entry for each group that the platform no longer has, then an entry for this user's membership of each. No entry is
 * made for a membership of another user, and none if a group is linked in place of the missing one and has the user already. The
 * membership of a group with a conflict waits.
 */
async function madeAgain(
  scan: ScanResult,
  gone: readonly ObservedResource[],
  user: ComparedUser,
): Promise<GroupsMadeAgain> {
  const refs = gone.map(({ ref }) => ref);
  const made = (await comparedGroups(scan, refs)).flatMap(({ entries }) => entries.filter(isWhole));
  const linked = made.filter((entry) => entry.action === 'relink' && isChange(entry));
  const present = new Set<Ref | null>();
  for (const { ref, after } of linked) {
    const id = String(after?.id);
    const isNamed = user.memberOf.some((group) => group.id === id);
    if (isNamed || (await readMembership(scan, id, user)).state === 'member') present.add(ref);
  }
  const lacking = gone.filter(({ ref }) => !present.has(ref));
  const memberships = await managedEntries(
    scan,
    lacking,
    (member) => ({ missing: [member], surplus: [] }),
    user,
  );
  // The policy `create-only` makes no group anew.
  const left = `member at the source; the group is gone at the platform${leftBy(scan.scope.target.policy)}`;
  const added = await mapBounded(memberships, READ_AT_ONCE, async (entry): Promise<PlanEntry> => {
    const follower = { ...entry, ...(entry.ref && { follows: entry.ref }) };
    const action = made.find(({ ref }) => ref === entry.ref)?.action;
    if (action === 'conflict')
      return { ...follower, effect: 'report', reason: `member at the source${WAITS_FOR_GROUP}` };
    if (!isChange(entry)) return { ...entry, reason: left };
    const how = action === 'relink' ? 'linked anew' : `made with ${await membersMade(scan.scope, entry)}`;
    return { ...follower, reason: `member at the source; the group is ${how}` };
  });
  const linkedIds = new Set(linked.map(({ after }) => String(after?.id)));
  return { entries: [...made, ...added], linkedIds };
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
const isWhole = ({ member }: PlanEntry): boolean => member === undefined;

/**
 * Returns the entries about this user that a comparison of each whole group would contain.
 * @param differences returns whether the user is missing in these groups or surplus there
 */
export async function managedEntries(
  { scope }: Pick<ScanResult, 'scope'>,
  observed: readonly (ObservedResource | undefined)[],
  differences: (member: Member) => MemberDifferences,
  { ref: user, link, unconfirmed }: Pick<ComparedUser, 'ref' | 'link' | 'unconfirmed'>,
): Promise<PlanEntry[]> {
  const groups = observed.filter((each) => each !== undefined);
  const unwrittenSince = await scope.runs.unwrittenSince();
  const ids = groups.map(({ ref }) => parseRef(ref).id);
  const records = new Map((await scope.directory.getMany('Group', ids)).map((each) => [each.id, each]));
  const unsent = new Set(await scope.outbox.unsentGroups(parseRef(user).id, ids));
  const member = { ref: user, platformId: link.id ?? null, name: String(link.core?.userName ?? '') };
  return groups.flatMap(({ ref, text, marked }) => {
    const record = records.get(parseRef(ref).id);
    const group = parseLink(text);
    const difference = differences(member);
    // The source deleted the group, so only a membership that the platform still has is a difference.
    if (!record) return difference.surplus.map(() => inDeletedGroup(scope, { ref, link: group, member }));
    const displayName = nameInRecord(record);
    // A damaged record does not show whether the user is a member.
    if (displayName === undefined) return [];
    const name = scope.target.mapping.groupName(displayName);
    // The settings leave the group out.
    if (name === undefined)
      return difference.surplus.map(() =>
        unmanagedEntry(
          user,
          { id: group.id ?? '', name: String(group.core?.displayName ?? displayName) },
          LEFT_OUT,
        ),
      );
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
        members: difference,
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
