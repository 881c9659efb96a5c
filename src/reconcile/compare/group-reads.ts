// Reads a limited number of groups of one user at the platform, to see whether the user is a member: groups at the source that the
// account does not list (`groupsAtSource`), and groups from which a removal of the user is pending (`sortPending`).
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { fold, parseRef, refOf, type Ref } from '../../directory/records.ts';
import { mapBounded } from '../../support/bounded.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { asking } from './platform-reads.ts';
import type { GroupOfAccount } from './verified.ts';

/**
 * Largest number of groups that one comparison of a user reads, for each of three reasons: the account does not list the group, the
 * account shows another name of it, or a removal of the user is pending. Further groups are not compared.
 */
export const MOST_READ = 20;
/** Number of groups that are read at the same time. */
export const READ_AT_ONCE = 2;

/** Facts by which the memberships of a linked user are compared: groups of the account, and pending changes of the bridge. */
export interface ComparedUser {
  ref: Ref;
  link: Link;
  /** Groups that the account names; a platform may name none, although the user is a member. */
  memberOf: readonly GroupOfAccount[];
  /** Sign of each pending change of a membership, by group id (`ResourceStatus.pendingMemberships`); read before the account. */
  pending: ReadonlyMap<string, string>;
  /** Groups from which the removal of the user was written and is not confirmed. */
  unconfirmed: ReadonlySet<string>;
}

/** A group of the user at the source, with what is known of it at the platform. */
export interface GroupAtSource {
  ref: Ref;
  link: Link;
  /** Undefined: the settings leave the group out. */
  wantedName: string | undefined;
  /** Name by which the account lists the group; undefined: it does not. */
  listedName: string | undefined;
  /** Whether a change of the membership is pending. */
  isPending: boolean;
  /** The group as it was read, because the account should list it and does not; absent: not read. */
  read?: ReadMembership;
}

/** Returns the groups of the user at the source, and reads up to MOST_READ of those that the account should list and does not. */
export async function groupsAtSource(scan: ScanResult, user: ComparedUser): Promise<GroupAtSource[]> {
  const { directory, links, target } = scan.scope;
  const [groups = []] = await directory.groupsOf([parseRef(user.ref).id]);
  const refs = groups.map(({ id }) => refOf('Group', id));
  const found = await links.getMany(target.name, refs);
  const listed = new Map(user.memberOf.map(({ id, name }) => [id, name]));
  const atSource = groups.map(({ id, displayName }, index): GroupAtSource => {
    const link = found[index] ?? {};
    return {
      ref: refOf('Group', id),
      link,
      wantedName: target.mapping.groupName(displayName),
      listedName: listed.get(link.id ?? ''),
      isPending: user.pending.has(id),
    };
  });
  await mapBounded(atSource.filter(isNotListed).slice(0, MOST_READ), READ_AT_ONCE, async (group) => {
    group.read = await readMembership(scan, group.link.id ?? '', user);
  });
  return atSource;
}

/** Returns whether the account should list the group, and does not. */
export const isNotListed = ({ link, listedName, isPending }: GroupAtSource): boolean =>
  link.id !== undefined && link.departed !== true && !isPending && listedName === undefined;

const nameThere = ({ listedName, read }: GroupAtSource): string | undefined => listedName ?? read?.name;

/** Returns whether the user is about to join the group, whose name was not read. */
export const isJoining = (group: GroupAtSource): boolean =>
  group.isPending && group.link.id !== undefined && nameThere(group) === undefined;

/** Returns whether the platform shows the group by another name than the desired one. */
export const hasOtherName = (group: GroupAtSource): boolean => {
  const name = nameThere(group);
  return name !== undefined && fold(name) !== fold(group.wantedName ?? name);
};

/** Returns whether the group has the user and the desired name, and no change of the membership is pending. */
export const isAsNamed = (group: GroupAtSource): boolean => {
  const isThere = group.listedName !== undefined || group.read?.state === 'member';
  return isThere && !hasOtherName(group) && !group.isPending;
};

/** Returns how many of the groups are not read, because they are beyond MOST_READ. */
export const beyond = (groups: readonly unknown[]): number => Math.max(0, groups.length - MOST_READ);

/** Returns the stored links of the groups that were read in this state. */
export const readLinksOf = (
  { drifts }: ReconcileScope,
  atSource: readonly GroupAtSource[],
  state: ReadMembership['state'],
): Promise<ObservedResource[]> =>
  drifts.readLinks(atSource.flatMap(({ ref, read }) => (read?.state === state ? [ref] : [])));

/** Pending changes of a user's memberships, sorted by what the platform shows. */
export interface SortedPending {
  /** Groups in which somebody else has already made the change. */
  pendingDone: Ref[];
  /**
   * Groups with a pending removal of the user that were not read, so that the user may still be a member: beyond MOST_READ, or the
   * read failed.
   */
  pendingUnread: Ref[];
}

/**
 * Sorts the user's pending memberships. A group that the account lists has the user. A platform may leave groups out of its
 * accounts, so only a read of the group proves that the user has left.
 */
export async function sortPending(scan: ScanResult, user: ComparedUser): Promise<SortedPending> {
  const { links, target } = scan.scope;
  const listed = new Set(user.memberOf.map(({ id }) => id));
  const refs = [...user.pending.keys()].map((group) => refOf('Group', group));
  const known = await links.getMany(target.name, refs);
  const linked = refs.flatMap((ref, index) => {
    const id = known[index]?.id;
    return id === undefined ? [] : [{ ref, id, isAdded: user.pending.get(parseRef(ref).id) === '+' }];
  });
  const joined = linked.filter(({ id, isAdded }) => isAdded && listed.has(id));
  const maybeLeft = linked.filter(({ id, isAdded }) => !isAdded && !listed.has(id));
  const read = await mapBounded(maybeLeft.slice(0, MOST_READ), READ_AT_ONCE, async ({ ref, id }) => ({
    ref,
    state: (await readMembership(scan, id, user)).state,
  }));
  const provenLeft = read.filter(({ state }) => state === 'notMember' || state === 'noGroup');
  const failed = read.filter(({ state }) => state === 'unknown');
  return {
    pendingDone: [...joined, ...provenLeft].map(({ ref }) => ref),
    pendingUnread: [...failed, ...maybeLeft.slice(MOST_READ)].map(({ ref }) => ref),
  };
}

/** Whether a user is a member of a group. `noGroup`: the platform has no such group. `unknown`: it could not be read. */
type ReadMembership =
  | { state: 'member' | 'notMember'; name: string; changedAt: string | undefined }
  | { state: 'noGroup' | 'unknown'; name?: undefined; changedAt?: undefined };

/** Reads a group that the account does not name, because a platform may leave groups out of its accounts. */
export async function readMembership(
  scan: ScanResult,
  id: string,
  { link }: ComparedUser,
): Promise<ReadMembership> {
  const group = await asking(scan, (signal) => scan.scope.target.client.groups.get(id, {}, { signal }));
  if (group === 'unknown') return { state: 'unknown' };
  if (group === 'absent') return { state: 'noGroup' };
  // The read asks for the members, so absent `members` mean an empty group (WireGroup).
  const isMember = (group.members ?? []).some(({ value }) => value === link.id);
  const { displayName: name, meta } = group;
  return { state: isMember ? 'member' : 'notMember', name, changedAt: meta?.lastModified };
}
