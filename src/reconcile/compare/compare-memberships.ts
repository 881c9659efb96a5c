// Compares the groups of one user at the source with the groups at the platform, for explain and for the sync of one person; writes
// nothing. Four sorts of differences: groups under another name (group-names.ts), groups that the platform no longer has
// (gone-groups.ts), groups that lack the user, and groups of the account in which the source does not have the user.
import { parseLink } from '../../directory/outbox/link.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { PlanEntry } from '../entry.ts';
import { membershipsOfGoneGroups } from './gone-groups.ts';
import {
  beyond,
  groupsAtSource,
  hasOtherName,
  isAsNamed,
  isJoining,
  isNotListed,
  readLinksOf,
  sortPending,
  type ComparedUser,
  type GroupAtSource,
  type SortedPending,
} from './group-reads.ts';
import { LEFT_OUT, managedEntries, unmanagedEntry } from './membership-entries.ts';
import { withMissingCauses } from './missing-memberships.ts';
import type { ScanResult } from '../scope.ts';
import { groupsUnderOtherName, type GroupNames } from './group-names.ts';

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
 * Compares the user's groups at the source and at the platform. Groups whose pending removal could not be looked up are in
 * `pendingUnread`.
 * @returns null when the platform could not be read: the list of differences would be incomplete
 */
export async function compareMemberships(
  scan: ScanResult,
  user: ComparedUser,
): Promise<ComparedMemberships | null> {
  const atSource = await groupsAtSource(scan, user);
  if (atSource.some(({ read }) => read?.state === 'unknown')) return null;
  const toCompareNames = [...atSource.filter(hasOtherName), ...atSource.filter(isJoining)];
  const renamed = await groupsUnderOtherName(
    scan,
    toCompareNames.map(({ ref }) => ref),
  );
  if (renamed === null) return null;
  const missing = await missingMemberships(scan, user, atSource);
  const ofGoneGroups = await membershipsOfGoneGroups(scan, user, atSource);
  const entries = [
    ...renamed.entries,
    ...ofGoneGroups.entries,
    ...missing,
    ...(await entriesBesideSource(scan, user, atSource, ofGoneGroups.linkedIds)),
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
  const holders = await scan.scope.drifts.linkedTo(
    'Group',
    unmatched.map(({ id }) => id),
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
